"""Drives a server with the client that openapi-python-client makes."""

import os
from typing import Any, TypeVar

from rival_client import AuthenticatedClient
from rival_client.api.control import bulk_control_runs, cancel_run, fork_run, retry_run, send_signal
from rival_client.api.runs import list_run_events, list_runs, start_run, wait_for_run
from rival_client.models import (
    AcceptedRun,
    BulkAction,
    BulkDone,
    BulkRequest,
    EventList,
    ForkRequest,
    Problem,
    ReasonRequest,
    RunList,
    RunOutcome,
    RunStartedEvent,
    RunStatus,
    SignalRequest,
    StartRequest,
)

T = TypeVar("T")

client = AuthenticatedClient(base_url=os.environ["RIVAL_URL"], token=os.environ["RIVAL_TOKEN"])


def must(answer: object, kind: type[T]) -> T:
    assert isinstance(answer, kind), answer
    return answer


def start(name: str, run_input: Any) -> str:
    answer = start_run.sync(name, client=client, body=StartRequest(input_=run_input))
    return must(answer, AcceptedRun).run_id


def wait(run: str) -> RunOutcome:
    return must(wait_for_run.sync(run, client=client, timeout="1m"), RunOutcome)


paid = start("order", {"customer": "Grace", "amount": 5})
assert wait(paid).output == "paid"

refused = must(start_run.sync("order", client=client, body=StartRequest(input_={"amount": 0})), Problem)
assert refused.code == "invalid_input", refused

count = 0
page = must(list_runs.sync(client=client, status=[RunStatus.FAILED, RunStatus.CANCELLED], limit=2), RunList)
while True:
    count += len(page.items)
    if not page.cursor:
        break
    page = must(
        list_runs.sync(client=client, status=[RunStatus.FAILED, RunStatus.CANCELLED], limit=2, cursor=page.cursor),
        RunList,
    )
assert count == 5, count

history = must(list_run_events.sync(paid, client=client), EventList)
assert must(history.items[0], RunStartedEvent).data.workflow == "order"

asked = start("approval", None)
must(send_signal.sync(asked, "approval", client=client, body=SignalRequest(payload={"approved": True})), AcceptedRun)
assert wait(asked).status == RunStatus.COMPLETED
nap = start("nap", None)
must(cancel_run.sync(nap, client=client, body=ReasonRequest(reason="enough")), AcceptedRun)
assert wait(nap).reason == "enough"
broken = start("order", {"customer": "Grace", "amount": 5000})
assert wait(broken).status == RunStatus.FAILED
again = must(retry_run.sync(broken, client=client), AcceptedRun)
assert wait(again.run_id).status == RunStatus.FAILED
change = ForkRequest(from_="charge", input_={"customer": "Grace", "amount": 7})
mended = must(fork_run.sync(broken, client=client, body=change), AcceptedRun)
assert wait(mended.run_id).output == "paid"
naps = [start("nap", None), start("nap", None)]
bulk = must(bulk_control_runs.sync(client=client, body=BulkRequest(action=BulkAction.CANCEL, run_ids=naps)), BulkDone)
assert len(bulk.results) == 2
