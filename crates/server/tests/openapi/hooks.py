"""Brings schemathesis to where something is: runs in every state, workflows that exist, waits that end.

What it makes up by itself is right by the document and unknown to the server, so all that it would see is 404. Of four
requests three are given something that exists. What it got wrong on purpose stays wrong.
"""

import atexit
import collections
import json
import os
import random
import re
import urllib.parse

import requests
import schemathesis
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import TestPhase

URL = os.environ["RIVAL_URL"]
TALLY = os.environ["RIVAL_TALLY"]

DURATION = re.compile(r"^[0-9]+(ms|s|m|h)$")
INPUTS = {
    "order": [{"customer": "Ada", "amount": 1}, {"customer": "Eve", "amount": 2_000}],
    "approval": [None],
    "nap": [None],
    "parent": [7],
}

session = requests.Session()
session.headers["Authorization"] = "Bearer " + os.environ["RIVAL_TOKEN"]
dice = random.Random(int(os.environ["RIVAL_SEED"]))
tally = collections.defaultdict(collections.Counter)


def ask(method, path, **kwargs):
    response = session.request(method, URL + path, timeout=10, **kwargs)
    response.raise_for_status()
    return response.json()


def quoted(run):
    """An id as a part of a path: keys of requests become ids, and may hold any sign."""
    return urllib.parse.quote(run, safe="")


def start(workflow, value):
    return ask("POST", f"/api/workflows/{workflow}/runs", json={"input": value})["runId"]


def waiting():
    return start("approval", None)


def paused():
    run = waiting()
    ask("POST", f"/api/runs/{run}/pause")
    return run


def standing(*statuses):
    """Gives one of the runs that the test has put into one of these statuses, or that have come there."""

    def choose():
        runs = ask("GET", "/api/runs", params={"status": ",".join(statuses), "limit": 50})["items"]
        return dice.choice(runs)["runId"] if runs else waiting()

    return choose


def triggering():
    """A completed run whose trigger has failed: what it starts is not there."""
    run = start("dispatch", None)
    for each in (run, f"{run}~triggers"):
        ask("GET", f"/api/runs/{quoted(each)}/wait")
    return run


ENDED = [standing("completed"), standing("failed"), standing("cancelled")]
RUNS = [waiting, paused, *ENDED, standing("blocked"), standing("running", "cancelling", "waiting")]


def a_document(name):
    """One that can be kept."""
    return {"name": name, "steps": [[{"name": "rest", "sleep": {"ms": dice.randint(1, 1_000)}}]]}


def kept():
    """The name of a document that is there."""
    name = f"kept-{dice.randint(0, 20)}"
    ask("PUT", f"/api/documents/{name}", json=a_document(name))
    return name


def connection(case):
    """The name of a connection that is there, or may be made."""
    if case.method in ("PUT", "DELETE"):
        name = f"made-{dice.randint(0, 20)}"
        ask("PUT", f"/api/connections/{name}", json={"url": "https://tools.example/mcp"})
        return dice.choice([name, name, "kept"])
    return "kept"


def is_wrong(case, location):
    """Whether this part of a request is meant to be refused."""
    part = case.meta.components.get(location) if case.meta else None
    return part is not None and part.mode.is_negative


def turns(case, location):
    return not is_wrong(case, location) and dice.random() < 0.75


def follows(case):
    """Whether it follows from an answer, and knows by itself where to go."""
    return case.meta is not None and case.meta.phase.name == TestPhase.STATEFUL


@schemathesis.hook
def before_call(context, case, kwargs):
    path = case.operation.path
    parameters = case.path_parameters or {}
    if turns(case, ParameterLocation.PATH):
        if "id" in parameters and not follows(case):
            again = path.endswith(("/retry", "/fork")) and dice.random() < 0.5
            runs = [triggering] if "/triggers/" in path else ENDED if again else RUNS
            parameters["id"] = quoted(dice.choice(runs)())
        if "{name}" in path and "/signals/" in path:
            parameters["name"] = "approval"
        elif path.startswith("/api/documents/"):
            parameters["name"] = kept()
        elif path.startswith("/api/connections/"):
            parameters["name"] = connection(case)
        elif "{name}" in path:
            parameters["name"] = dice.choice(list(INPUTS))
    shorten(case, path)
    if path == "/api/stream/runs" and isinstance(case.query, dict) and turns(case, ParameterLocation.QUERY):
        case.query = {**case.query, "run": [dice.choice(RUNS)() for _ in range(dice.randint(1, 3))]}
        if dice.random() < 0.75:
            (case.headers or {}).pop("Last-Event-ID", None)
    if path == "/api/documents/{name}" and turns(case, ParameterLocation.HEADER):
        fit_condition(case)
    if path == "/api/documents/{name}" and case.query and turns(case, ParameterLocation.QUERY):
        case.query = {**case.query, "version": 1}
    if isinstance(case.body, dict) and turns(case, ParameterLocation.BODY):
        fit_body(case, path, parameters)


def shorten(case, path):
    """Nobody waits for an hour."""
    name = {"/api/runs/{id}/wait": "timeout", "/api/workflows/{name}/runs": "wait"}.get(path)
    query = case.query if isinstance(case.query, dict) else {}
    asked = query.get(name)
    if name and (asked is None and name == "timeout" or isinstance(asked, str) and DURATION.match(asked)):
        case.query = {**query, name: "20ms"}


def fit_body(case, path, parameters):
    """What only a workflow knows, not the document: its input, its signals. And an archive cannot be made up."""
    if path in ("/api/workflows/{name}/runs", "/api/workflows/{name}/validate"):
        inputs = INPUTS.get(parameters.get("name"))
        if inputs:
            case.body["input"] = dice.choice(inputs)
    elif path == "/api/runs/{id}/signals/{name}":
        case.body["payload"] = {"approved": dice.random() < 0.5}
    elif path == "/api/documents":
        case.body = a_document(f"new-{dice.random()}")
    elif path.startswith("/api/documents/"):
        case.body = a_document(str(parameters.get("name", "any")))
    elif path == "/api/connections/{name}":
        case.body = {"url": "https://tools.example/mcp"}
    elif path == "/api/runs/import":
        case.body = ask("GET", f"/api/runs/{quoted(standing('completed', 'failed')())}/export")
        if dice.random() < 0.5:
            case.body["run"]["runId"] = f"imported-{dice.random()}"
    elif path == "/api/runs/{id}/fork":
        case.body.pop("input", None)
        case.body.pop("from", None)
        if dice.random() < 0.5:
            case.body["from"] = "reserve"


def fit_condition(case):
    """What only the store knows: which version is there."""
    headers = case.headers or {}
    headers.pop("If-None-Match", None)
    if "If-Match" in headers:
        headers["If-Match"] = dice.choice(["*", '"1"'])


@schemathesis.hook
def after_call(context, case, response):
    tally[case.operation.label][response.status_code] += 1


@atexit.register
def write():
    with open(TALLY, "w", encoding="utf-8") as file:
        json.dump(tally, file)
