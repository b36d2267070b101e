/** `process`: only its environment, and of that only what the operator allows. */
import { native } from '../host/native.ts'

export function makeProcess(): object {
    return { env: { ...native.env } }
}
