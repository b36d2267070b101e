// Answers every request with what it was, as JSON, and ends with its parent.
import { createServer } from 'node:http'

const server = createServer(async (request, response) => {
    const parts = []
    for await (const part of request) parts.push(part)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ method: request.method, path: request.url, body: Buffer.concat(parts).toString() }))
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`))
