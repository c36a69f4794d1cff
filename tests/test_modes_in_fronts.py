"""Modes by name and the options of modes: alike in library, command line, server and batches."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from jsonrill import updates

pytest.importorskip("typer")
pytest.importorskip("starlette")

from starlette.testclient import TestClient
from typer.testing import CliRunner, Result

from jsonrill.cli.app import app
from jsonrill_batch import Job
from jsonrill_batch.operations import Work
from jsonrill_server import Runs, create_app

TEXT = '{"title": "Rome", "items": [{"do": "eat"}, {"do": "rest"}]}'
MODES: Any = {"title": "REALTIME", "items": "ONE-BY-ONE"}
NAMES = ["title", "items"]
FILE = '{"filename": "a.txt", "content": "Hello"}'
TYPES: Any = {"properties": {"s": {"type": "string"}, "n": {"type": "integer"}}}


def by_command(*arguments: str, text: str = TEXT) -> Result:
    return CliRunner().invoke(app, ["updates", "--tokens", "1", *arguments], input=text)


def data_of(lines: str) -> list[Any]:
    events = [line.removeprefix("data: ") for line in lines.splitlines() if "{" in line]
    return [json.loads(line)["data"] for line in events]


def in_library(text: str, mode: Any = "REALTIME", **options: Any) -> list[Any]:
    return [update.data for update in updates(list(text), mode, **options)]


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create_app(), base_url="http://localhost") as client:
        yield client


def converted(client: TestClient, text: str, query: str = "", **options: Any) -> Any:
    """The answer of POST /v1/convert."""
    at = f"/v1/convert?{query}&options={quote(json.dumps(options))}"
    return client.post(at, content=text, headers={"content-type": "text/plain"})


def read(client: TestClient, text: str, *queries: str, **options: Any) -> list[list[Any]]:
    """What readers with these queries see of a stream to which single characters are appended."""
    at = f"/v1/streams/{client.post('/v1/streams', json=options).json()['id']}"
    for character in text:
        client.post(f"{at}/chunks", content=character, headers={"content-type": "text/plain"})
    client.post(f"{at}/close")
    return [data_of(client.get(f"{at}/events?{query}").text) for query in queries]


def test_modes_by_name_on_the_command_line() -> None:
    expected = in_library(TEXT, MODES, entity=NAMES)
    assert expected[:4] == ["R", "Ro", "Rom", "Rome"] and expected[-1] == {"do": "rest"}
    entities = ["--entity", "title", "--entity", "items"]
    for modes in (
        ["--mode", "title=REALTIME", "--mode", "items=ONE-BY-ONE"],
        ["--mode", "items=one_by_one"],
        ["--mode", "title=REALTIME,items=ONE-BY-ONE"],
    ):
        assert data_of(by_command(*entities, *modes).stdout) == expected


def test_modes_by_name_in_the_server(client: TestClient) -> None:
    expected = in_library(TEXT, MODES, entity=NAMES)
    queries = ["", "mode=items%3DONE-BY-ONE", "mode=ONE-BY-ONE", "entity=title"]
    by_query = read(client, TEXT, *queries, entity=NAMES, mode=MODES)
    assert by_query[:3] == [expected, expected, ["Rome", {"do": "eat"}, {"do": "rest"}]]
    # The modes are for the entities of the stream, not for others.
    assert by_query[3] == expected[:5]
    late = ["Rome", {"do": "eat"}, {"do": "rest"}]
    assert data_of(converted(client, TEXT, entity=NAMES, mode=MODES).text) == late
    query = "mode=title=REALTIME,items=BATCH"
    assert data_of(converted(client, TEXT, query, entity=NAMES).text) == ["Rome", late[1:]]


def test_modes_by_name_in_runs_and_batches() -> None:
    async def run() -> list[Any]:
        async with Runs() as runs:
            await runs.start("it", list(TEXT), entity=NAMES, mode=MODES)
            return [event.data["data"] async for event in runs.read("it", format="updates")]

    assert asyncio.run(run())[-1] == {"do": "rest"}
    job = Job(kind="updates", mode=MODES, entity=NAMES, only_complete=["x"])
    assert Job.from_json(json.loads(json.dumps(job.to_json()))) == job


@pytest.mark.parametrize(
    "modes", [["x=REALTIME"], ["title=NEVER"], ["=BATCH"], ["BATCH", "REALTIME"], ["a=BATCH,BATCH"]]
)
def test_modes_that_are_none_are_refused(client: TestClient, modes: list[str]) -> None:
    flags = [flag for mode in modes for flag in ("--mode", mode)]
    done = by_command("--entity", "title", *flags)
    assert done.exit_code == 2 and "mode" in done.stderr
    assert converted(client, TEXT, f"mode={','.join(modes)}", entity="title").status_code == 422


def test_only_complete_in_each_front(client: TestClient) -> None:
    expected = in_library(FILE, only_complete=("filename",))
    assert expected[0] == {"filename": "a.txt"}
    assert data_of(by_command("--only-complete", "filename", text=FILE).stdout) == expected
    for patterns in ("filename", ["filename"], ["filename", "x[*].y"]):
        assert read(client, FILE, "", only_complete=patterns) == [expected]


def test_zero_values_in_each_front(client: TestClient, tmp_path: Path) -> None:
    text, schema = '{"s": "ab", "n": -1}', tmp_path / "types.json"
    schema.write_text(json.dumps(TYPES))
    expected = in_library(text, "PROGRESSIVE", schema=TYPES, zero_values=True)
    assert expected[:3] == [{"s": ""}, {"s": "ab"}, {"s": "ab", "n": 0}]
    flags = ["--mode", "progressive", "--zero-values", "--schema", str(schema)]
    assert data_of(by_command(*flags, text=text).stdout) == expected
    options: Any = {"schema": TYPES, "zero_values": True}
    assert read(client, text, "mode=PROGRESSIVE", **options) == [expected]
    cut = converted(client, '{"s": ', "mode=PROGRESSIVE", **options).text
    assert data_of(cut)[0] == {"s": ""}


UNUSED: list[tuple[str, dict[str, Any], list[str]]] = [
    ("PROGRESSIVE", {"early_literals": True}, ["--early-literals"]),
    ("ONE-BY-ONE", {"partial_numbers": False}, ["--no-partial-numbers"]),
    ("BATCH", {"zero_values": True, "schema": TYPES}, ["--zero-values", "--schema", "TYPES"]),
    ("ALL-TOGETHER", {"only_complete": ["a"]}, ["--only-complete", "a"]),
]


@pytest.mark.parametrize("mode, options, flags", UNUSED)
def test_what_a_mode_does_not_use_is_refused_with_the_same_words(
    client: TestClient, tmp_path: Path, mode: Any, options: dict[str, Any], flags: list[str]
) -> None:
    with pytest.raises(ValueError) as error:
        updates("{}", mode, **options)
    words = str(error.value)
    assert words.startswith(next(iter(options))) and words.endswith(f", not for {mode}")
    (tmp_path / "types.json").write_text(json.dumps(TYPES))
    named = [str(tmp_path / "types.json") if flag == "TYPES" else flag for flag in flags]
    done = by_command("--mode", mode, *named)
    assert done.exit_code == 2 and words in " ".join(done.stderr.replace("│", "").split())
    for answer in (
        converted(client, "{}", f"mode={mode}", **options),
        converted(client, "{}", mode=mode, **options),
    ):
        assert answer.status_code == 422 and words in answer.text
    answer = client.post("/v1/streams", json={"mode": mode, **options})
    assert answer.status_code == 422 and words in answer.text
    # A reader who chooses another mode than the publisher has nothing to do with it.
    stream = client.post("/v1/streams", json=options).json()
    client.post(f"/v1/streams/{stream['id']}/close")
    assert client.get(f"/v1/streams/{stream['id']}/events?mode={mode}").status_code == 200
    with pytest.raises(ValueError, match=words):
        Work(Job(kind="updates", mode=mode, **options))
