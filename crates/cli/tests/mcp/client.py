"""The official Python SDK against Rival: `client.py SCENARIO`. MCP_PLACE says how to come to it: a command as JSON, or an
address; RIVAL_TOKEN is shown to the address."""

import asyncio
import json
import os
import sys
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

PLACE = os.environ["MCP_PLACE"]
EXPENSE = {"who": "Ann", "amount": 3}


def transport(http: httpx2.AsyncClient) -> Any:
    if PLACE.startswith("http"):
        return streamable_http_client(PLACE, http_client=http)
    command, *args = json.loads(PLACE)
    return stdio_client(StdioServerParameters(command=command, args=args, env=dict(os.environ)))


async def good(client: Client, name: str, /, **args: Any) -> dict[str, Any]:
    """What a tool answers if it goes well."""
    result = await client.call_tool(name, args)
    assert not result.is_error, result.content
    return result.structured_content


async def bad(client: Client, name: str, code: str, /, **args: Any) -> dict[str, Any]:
    """What a tool says when it refuses."""
    result = await client.call_tool(name, args)
    assert result.is_error
    error = result.structured_content["error"]
    assert error["code"] == code, error
    assert result.content[0].text.startswith(f"error {code}: ")
    return error


async def runs(client: Client) -> None:
    """What an agent does with runs."""
    tools = {tool.name for tool in (await client.list_tools()).tools}
    assert {"run_workflow", "run_approval", "wait_for_run", "watch_run"} <= tools
    await bad(client, "run_workflow", "invalid_input", workflow="approval", input={"who": "Ann"})
    run = (await good(client, "run_workflow", workflow="approval", input=EXPENSE))["runId"]

    told: list[str | None] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)

    waited = await client.call_tool("wait_for_run", {"runId": run, "waitSeconds": 1}, progress_callback=tell)
    assert waited.structured_content["ended"] is False
    assert told and "approval" in (told[0] or "")
    watched = await good(client, "watch_run", runId=run)
    assert any("waits for the signal" in event["what"] for event in watched["events"]), watched
    await good(client, "signal_run", runId=run, signal="approval", payload={"by": "Bo", "granted": True})
    assert (await good(client, "wait_for_run", runId=run))["output"] == "Ann is paid 3, says Bo"
    page = await client.read_resource("rival://llms.txt")
    assert "waitForSignal" in page.contents[0].text
    prompt = await client.get_prompt("write_workflow", {"goal": "greet people"})
    assert "greet people" in prompt.messages[0].content.text


DOCUMENT = {
    "name": f"nap-{os.getpid()}",
    "steps": [[{"name": "nap", "sleep": {"ms": 1}}], [{"name": "again", "sleep": {"ms": "soon"}}]],
}


async def documents(client: Client) -> None:
    """A workflow that is written as an object, and a client that subscribes to other tools."""
    error = await bad(client, "create_document", "invalid_document", document=DOCUMENT)
    assert error["errors"][0]["field"] == "sleep.ms" and "whole number" in error["errors"][0]["message"]
    mended = json.loads(json.dumps(DOCUMENT).replace('"soon"', "2"))
    saved = None
    if client.protocol_version >= "2026-07-28" and not PLACE.startswith("http"):
        async with client.listen(tools_list_changed=True) as changes:
            saved = await good(client, "create_document", document=mended)
            await anext(aiter(changes))
    saved = saved or await good(client, "create_document", document=mended)
    run = await good(client, "run_workflow", workflow=mended["name"], waitSeconds=30)
    assert run["status"] == "completed", run
    await good(client, "delete_document", name=mended["name"], version=saved["version"])


SCENARIOS = {"runs": runs, "documents": documents}


async def main() -> None:
    token = os.environ.get("RIVAL_TOKEN")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        # The protocol of today, and the one that it follows.
        for mode in ["auto", "legacy"]:
            async with Client(transport(http), mode=mode) as client:
                await SCENARIOS[sys.argv[1]](client)


asyncio.run(main())
