"""A text against a schema, with repair and without: each front reads the same value, or refuses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from jsonrill import JsonrillError, ToolCalls, fields, loads, select, tool_calls, updates, values

pytest.importorskip("typer")
pytest.importorskip("starlette")

from starlette.testclient import TestClient
from typer.testing import CliRunner

from jsonrill.cli.app import app
from jsonrill_batch import Job
from jsonrill_batch.input.record import Stream
from jsonrill_batch.operations import Work
from jsonrill_batch.output.tally import Tally
from jsonrill_server import Runs, create_app

# A schema of the member n, and the JSON of a value for it. (An array at the path of `select` stands
# for its elements, so none of the values is an array.)
CASES: list[tuple[Any, str]] = [
    ({"type": "integer"}, '"5"'),
    ({"type": "integer"}, "5"),
    ({"type": "integer"}, '"five"'),
    ({"type": "integer"}, '"5.5"'),
    ({"type": "integer"}, "true"),
    ({"type": "integer", "minimum": 6}, '"5"'),
    ({"type": "number"}, '"-1.5e2"'),
    ({"type": "boolean"}, '"true"'),
    ({"type": "boolean"}, "True"),
    ({"type": ["boolean", "integer"]}, '"false"'),
    ({"type": "string"}, '"5"'),
    ({"type": "string"}, "5"),
    ({"enum": ["North", "South"]}, '"north"'),
    ({"enum": ["North", "South"]}, '"east"'),
    ({"type": "object"}, '"{\\"a\\": 1}"'),
    ({"properties": {"a": {"type": "integer"}}}, '{"a": "1"}'),
    ({"properties": {"a": {"items": {"type": "integer"}}}}, '{"a": ["1", 2]}'),
    ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, '"5"'),
]
Verdict = tuple[str, Any]
OK = "ok"


def document_of(member: Any) -> Any:
    return {"type": "object", "properties": {"n": member}, "required": ["n"]}


def verdict(read: Callable[[], Any]) -> Verdict:
    try:
        return OK, read()
    except JsonrillError as error:
        return str(error.code), None


def of_update(update: dict[str, Any]) -> Verdict:
    error = update.get("error")
    return (OK, update["data"]) if error is None else (error["code"], None)


def last_update(*arguments: Any, **options: Any) -> Verdict:
    return of_update(list(updates(*arguments, **options))[-1].to_dict())


def call_events(text: str) -> list[Any]:
    function = {"name": "t", "arguments": text}
    call = {"index": 0, "id": "c", "type": "function", "function": function}
    choice = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}
    ended = {"index": 0, "delta": {}, "finish_reason": "tool_calls"}
    head = {"id": "x", "object": "chat.completion.chunk"}
    return [{**head, "choices": [choice]}, {**head, "choices": [ended]}]


def of_call(call: dict[str, Any]) -> Verdict:
    return (call["error"]["code"], None) if call.get("error") else (OK, call["args"])


def by_calls(text: str, schema: Any, repair: bool) -> Verdict:
    calls = ToolCalls(schemas={"t": schema}, repair=repair)
    list(tool_calls(call_events(text), calls=calls))
    (call,) = calls.calls
    return of_call({"args": call.args, "error": call.error})


def by_batch(kind: str, pieces: list[Any], form: Any, **options: Any) -> dict[str, Any]:
    stream = Stream("1", form, pieces)
    rows = list(Work(Job(kind=kind, **options)).rows(stream, Tally(stream)))
    last: dict[str, Any] = json.loads(rows[-1])
    return last


def of_row(row: dict[str, Any], name: str) -> Verdict:
    return (row["error"]["code"], None) if "error" in row else (OK, row[name])


def by_command(name: str, text: str, *flags: str) -> Verdict:
    done = CliRunner().invoke(app, [name, *flags], input=text)
    assert done.exit_code in (0, 1), done.stderr
    return ("error", None) if done.exit_code else (OK, json.loads(done.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create_app(), base_url="http://localhost") as client:
        yield client


def by_server(client: TestClient, text: str, schema: Any, repair: bool) -> Verdict:
    options = quote(json.dumps({"schema": schema, "repair": repair, "mode": "ONE-BY-ONE"}))
    at = f"/v1/convert?options={options}"
    answer = client.post(at, content=text, headers={"content-type": "text/plain"}).text
    events = [line[6:] for line in answer.splitlines() if line.startswith("data: {")]
    return of_update(json.loads(events[-1]))


def by_runs(text: str, schema: Any, repair: bool) -> Verdict:
    async def run() -> dict[str, Any]:
        async with Runs() as runs:
            await runs.start("it", [text], schema=schema, repair=repair)
            events = [event.data async for event in runs.read("it", format="updates")]
            last: dict[str, Any] = [event for event in events if "status" in event][-1]
            return last

    return of_update(asyncio.run(run()))


def in_library(text: str, member: Any, repair: bool) -> dict[str, Verdict]:
    """The verdict of each function on `{"n": …}`."""
    whole = document_of(member)
    options: dict[str, Any] = {"repair": repair}

    def of_member(verdict: Verdict) -> Verdict:
        return verdict if verdict[0] != OK else (OK, {"n": verdict[1]})

    return {
        "values": verdict(lambda: list(values(list(text), whole, **options))[-1]),
        "loads": verdict(lambda: loads(text, whole, **options)),
        "fields": verdict(lambda: dict(fields(text, whole, **options))),
        "select": of_member(verdict(lambda: list(select(text, "n", member, **options))[0])),
        "select root": verdict(lambda: list(select(list(text), "root", whole, **options))[0]),
        "select *": of_member(verdict(lambda: list(select(text, "*", member, **options))[0])),
        "updates": last_update(text, schema=whole, **options),
        "updates of n": of_member(last_update(text, entity="n", schema=member, **options)),
        "updates of a part": of_member(
            last_update(list(text), entity="n", document_schema=whole, **options)
        ),
        "tool_calls": by_calls(text, whole, repair),
    }


def in_batch(text: str, member: Any, repair: bool) -> dict[str, Verdict]:
    whole, events = document_of(member), call_events(text)
    options: dict[str, Any] = {"repair": repair}
    row = by_batch("values", list(text), "chunks", schema=whole, **options)
    check = by_batch("check", [text], "text", schema=whole, **options)
    update = by_batch("updates", [text], "text", schema=whole, **options)
    calls = by_batch("calls", events, "events", schemas={"t": whole}, **options)
    return {
        "batch values": of_row(row, "value"),
        "batch check": of_row({**check, "value": row["value"]}, "value"),
        "batch updates": of_update(update),
        "batch calls": of_call(calls["calls"][0]),
    }


def on_command_line(text: str, member: Any, repair: bool, folder: Path) -> dict[str, Verdict]:
    file = folder / "schema.json"
    file.write_text(json.dumps(document_of(member)))
    flags = ["--repair"] if repair else []
    calls = "\n".join(map(json.dumps, call_events(text)))
    update = by_command("updates", text, "--schema", str(file), *flags)
    call = by_command("calls", calls, "--schema", f"t={file}", *flags)
    return {
        "values command": by_command("values", text, "--schema", str(file), *flags),
        "select command": by_command("select", text, "root", "--schema", str(file), *flags),
        "updates command": update if update[0] != OK else of_update(update[1]),
        "calls command": call if call[0] != OK else of_call(call[1]),
    }


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("member, value", CASES)
def test_fronts_agree_on_a_text_and_its_schema(
    client: TestClient, member: Any, value: str, repair: bool
) -> None:
    text = f'{{"n": {value}}}'
    verdicts = in_library(text, member, repair) | in_batch(text, member, repair)
    verdicts["server"] = by_server(client, text, document_of(member), repair)
    verdicts["runs"] = by_runs(text, document_of(member), repair)
    expected = verdicts["values"]
    assert verdicts == dict.fromkeys(verdicts, expected)


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("member, value", [CASES[at] for at in (0, 2, 5, 12, 15)])
def test_the_command_line_agrees(member: Any, value: str, repair: bool, tmp_path: Path) -> None:
    """Fewer cases, because a command takes a tenth of a second."""
    text = f'{{"n": {value}}}'
    commands = on_command_line(text, member, repair, tmp_path)
    code, data = verdict(lambda: list(values(text, document_of(member), repair=repair))[-1])
    assert commands == dict.fromkeys(commands, (OK, data) if code == OK else ("error", None))


def test_repair_reads_what_the_schema_asks_for() -> None:
    """The cases above would agree, too, if nothing were repaired."""
    results = [in_library(f'{{"n": {value}}}', member, True)["values"] for member, value in CASES]
    assert results[0] == results[1] == (OK, {"n": 5})
    assert [code for code, _ in results].count(OK) == 12


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("text", ['["5", 6]', "[5, 6]", '["5", "x"]', "Here: ['5', 6,]"])
def test_fronts_agree_on_the_elements_of_an_array(text: str, repair: bool) -> None:
    number = {"type": "integer"}
    options: dict[str, Any] = {"repair": repair}
    whole, inside = {"type": "array", "items": number}, f'{{"n": {text}}}'

    def of_updates(text: str, **more: Any) -> Verdict:
        emitted = [it.to_dict() for it in updates(text, "ONE-BY-ONE", **more, **options)]
        errors = [update["error"]["code"] for update in emitted if "error" in update]
        return (errors[0], None) if errors else (OK, [update["data"] for update in emitted])

    def of_values(text: str, schema: Any) -> Any:
        return list(values(text, schema, **options))[-1]

    expected = verdict(lambda: of_values(text, whole))
    verdicts = {
        "select": verdict(lambda: list(select(text, "root", number, **options))),
        "select [*]": verdict(lambda: list(select(text, "[*]", number, **options))),
        "updates": of_updates(text, schema=number),
        "updates of an array": of_updates(text, schema=whole),
        "updates of n in an array": of_updates(text, entity="n", schema=number),
    }
    if "Here" not in text:
        verdicts |= {
            "values inside": verdict(lambda: of_values(inside, document_of(whole))["n"]),
            "select n": verdict(lambda: list(select(inside, "n", number, **options))),
            "select n[*]": verdict(lambda: list(select(inside, "n[*]", number, **options))),
            "updates of n": of_updates(inside, entity="n", schema=number),
            "updates of n[*]": of_updates(inside, entity="n[*]", schema=number),
            "updates of a part": of_updates(
                inside, entity="n[*]", document_schema=document_of(whole)
            ),
        }
    assert verdicts == dict.fromkeys(verdicts, expected)
