"""What the page exports, run: every export of every kind of stream gives the value of the page."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jsonrill import JsonrillError
from support import few, need_command
from support.processes import Server

SCRIPT = Path(__file__).parent / "exported.js"
# The names in the script; the fixture compares.
NAMES = re.findall(r'^  "?([a-z ]+)"?: \[', SCRIPT.read_text("utf8"), re.MULTILINE)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, Any]]]:
    with Server(tmp_path_factory.mktemp("exported")) as server:
        command = [need_command("node"), str(SCRIPT), f"{server.url}/"]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf8", check=True)
        cases = {each["name"]: each for each in json.loads(done.stdout)}
        assert [*cases] == NAMES
        yield cases


def value_of(lines: list[str], kind: str, read: Any) -> Any:
    """The value that a program printed: its lines, the last one, or its text."""
    if kind == "prose":
        return "".join(lines)
    if kind == "snapshots":
        return read(lines[-1])
    if kind == "many":
        return [read(line) for line in lines]
    if kind == "calls":
        latest = dict(line.split(" ", 1) for line in lines)
        return [{"name": name, "args": read(args)} for name, args in latest.items()]
    return read(lines[-1].partition(" ")[2] if kind == "entities" else lines[-1])


def wanted(case: dict[str, Any]) -> Any:
    value = json.loads(case["value"])
    return value["days"][-1] if case["kind"] == "entities" else value


def run(code: str) -> None:
    names: dict[str, Any] = {}
    exec(compile(code, "exported", "exec"), names)
    tests = [value for name, value in names.items() if name.startswith("test_")]
    assert len(tests) == 1
    tests[0]()


@pytest.mark.parametrize("name", NAMES)
def test_a_test_for_pytest_passes_and_fails_for_another_stream(
    exported: dict[str, dict[str, Any]], name: str
) -> None:
    code = exported[name]["pytest"]
    run(code)
    other = re.sub(r"PIECES = \[.*?\n\]", "PIECES = ['{\"a\": 0}']", code, flags=re.DOTALL)
    assert other != code
    with pytest.raises((Exception, pytest.fail.Exception)):
        run(other)


@pytest.mark.parametrize("name", NAMES)
def test_a_program_in_python_prints_the_value(
    exported: dict[str, dict[str, Any]], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    case = exported[name]
    code = compile(case["python"], "program", "exec")
    if case["error"]:
        with pytest.raises(JsonrillError) as caught:
            exec(code, {})
        assert caught.value.code == case["error"]
        return
    exec(code, {})
    read = json.loads if case["kind"] == "snapshots" else ast.literal_eval
    assert value_of(capsys.readouterr().out.splitlines(), case["kind"], read) == wanted(case)


@pytest.mark.parametrize("name", NAMES)
def test_a_program_in_javascript_prints_the_value(
    exported: dict[str, dict[str, Any]], name: str
) -> None:
    case = exported[name]
    # A JSON Schema is not one of the JavaScript library.
    if case["error"] and case["error"] != "INVALID_SCHEMA":
        assert case["thrown"] == case["error"]
        return
    assert case["thrown"] is None
    lines = case["printed"][1:] if case["kind"] != "prose" else case["printed"]
    # Digits beyond those of a double are lost there.
    value = value_of(lines, case["kind"], lambda text: json.loads(text, parse_int=float))
    assert value == json.loads(json.dumps(wanted(case)), parse_int=float)


@few(5)
@pytest.mark.parametrize("name", NAMES)
def test_a_request_with_curl_gives_the_value(
    exported: dict[str, dict[str, Any]], name: str
) -> None:
    case = exported[name]
    need_command("curl")
    done = subprocess.run(
        ["sh", "-c", case["curl"]], capture_output=True, text=True, encoding="utf8", check=True
    )
    lines = [line[6:] for line in done.stdout.splitlines() if line.startswith("data: {")]
    events = [json.loads(line) for line in lines]
    kind = case["kind"]
    if kind == "prose":
        assert "Overloaded" in lines[-1] if case["error"] else "finish_reason" in lines[-1]
    elif kind == "calls":
        calls = [
            {"name": call["function_name"], "args": json.loads(call["function_args"])}
            for call in events[-1]["tool_calls"]
        ]
        assert calls == wanted(case)
    elif case["error"]:
        error = events[-1]["error"]
        # On the wire an end that came early is invalid JSON, with a reason.
        assert "reason" in error if case["error"] == "TRUNCATED" else error["code"] == case["error"]
    else:
        complete = [event["data"] for event in events if event["status"] == "COMPLETED"]
        assert (complete if kind == "many" else complete[-1]) == wanted(case)
