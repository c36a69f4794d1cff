"""`jsonrill batch` as a shell sees it: arguments, progress, Ctrl-C, complaints, exit codes."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support import few

from . import logs
from .logs import batch, done, log, quarantine, results, rows, sample

pytest.importorskip("typer")

GOOD = '{"id": 1, "text": "[1, 2]"}'
FAST = ("--workers", "0")


def test_a_log_goes_in_and_rows_come_out(tmp_path: Path) -> None:
    path = log(tmp_path / "a.jsonl", GOOD, '{"id": 2, "chunks": ["{\\"a\\"", ": 1}"]}')
    ran = batch("values", path, "--out", tmp_path / "out", *FAST)
    assert ran.returncode == 0, ran.stderr
    assert "values: 2 streams in 1 file" in ran.stdout and "report.html" in ran.stdout
    assert rows(tmp_path / "out") == [{"id": 1, "value": [1, 2]}, {"id": 2, "value": {"a": 1}}]


@pytest.mark.parametrize(
    "args, row",
    [
        (["updates", "--mode", "batch", "--entity", "a"], {"data": [1, 2], "entity": "a"}),
        (["updates", "--send", "delta"], {"status": "COMPLETED"}),
        (["values", "--repair"], {"value": {"a": [1, 2]}}),
        (["values", "--rules", "cut-off"], {"value": {"a": [1, 2]}}),
        (["check", "--field", "text"], {"ok": True}),
        (["check", "--id-field", "no"], {"id": 9}),
        (["fragments"], {"kind": "StartObject"}),
    ],
)
def test_options_reach_the_job(tmp_path: Path, args: list[str], row: dict[str, Any]) -> None:
    path = log(tmp_path / "a.jsonl", {"id": 7, "no": 9, "text": '{"a": [1, 2]}'})
    ran = batch(*args, path, "--out", tmp_path / "out", *FAST)
    assert ran.returncode == 0, ran.stderr
    assert row.items() <= rows(tmp_path / "out")[0].items()


def test_options_for_snapshots_reach_the_job(tmp_path: Path) -> None:
    path = log(tmp_path / "a.jsonl", {"snapshots": [{"a": "Hello", "b": None}, {"a": "Bye"}]})
    args = ("chunks", path, "--null", "placeholder", "--on-revision", "keep", "--eager")
    ran = batch(*args, "--out", tmp_path / "out", *FAST)
    assert ran.returncode == 0, ran.stderr
    assert "".join(rows(tmp_path / "out")[0]["chunks"]) == '{"a":"Hello"}'
    job = json.loads((tmp_path / "out" / "manifest.json").read_text())["job"]
    assert job["eager"] is True and job["null"] == "placeholder"


def test_schemas_are_files_or_names(tmp_path: Path) -> None:
    pytest.importorskip("jsonschema_rs")
    pytest.importorskip("pydantic")
    path = log(tmp_path / "a.jsonl", {"text": '{"city": "Faro"}'}, {"text": '{"city": 1}'})
    schema = log(tmp_path / "s.json", {"properties": {"city": {"type": "string"}}})
    for number, named in enumerate([str(schema), "batch.models:Trip"]):
        out = tmp_path / f"out{number}"
        ran = batch("check", path, "--schema", named, "--out", out, *FAST)
        assert ran.returncode == 1 and "INVALID_SCHEMA" in ran.stdout, ran.stderr
        assert [row["ok"] for row in rows(out)] == [True, False]
    event = {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c"}]}}]}
    call = event["choices"][0]["delta"]["tool_calls"][0]  # type: ignore[index]
    call["function"] = {"name": "go", "arguments": '{"city": 1}'}
    path = log(tmp_path / "b.jsonl", {"events": [event]})
    ran = batch("calls", path, "--schema", f"go={schema}", "--out", tmp_path / "out", *FAST)
    assert "INVALID_SCHEMA" in ran.stdout, ran.stderr


def test_the_report_may_be_json(tmp_path: Path) -> None:
    path = log(tmp_path / "a.jsonl", GOOD, "nonsense")
    ran = batch("check", path, "--out", tmp_path / "out", "--json", *FAST)
    assert ran.returncode == 1
    assert json.loads(ran.stdout)["summary"]["quarantined"] == {"NOT_JSON": 1}
    assert len(quarantine(tmp_path / "out")) == 1


@pytest.mark.parametrize(
    "args, message",
    [
        (["check"], "are needed"),
        (["check", "HERE"], "--out"),
        (["nonsense", "HERE", "--out", "OUT"], "No such command"),
        (["check", "gone.jsonl", "--out", "OUT"], "gone.jsonl: No such file"),
        (["check", "HERE", "--out", "OUT", "--mode", "BATCH"], "No such option"),
        (["updates", "HERE", "--out", "OUT", "--mode", "X"], "mode is one of"),
        (["check", "HERE", "--out", "OUT", "--schema", "gone.json"], "gone.json"),
        (["check", "HERE", "--out", "OUT", "--schema", "no:where"], "no:where"),
        (["calls", "HERE", "--out", "OUT", "--schema", "a"], "TOOL=FILE"),
        (["check", "HERE", "--out", "OUT", "--shard-size", "big"], "a size is"),
        (["check", "HERE", "--out", "OUT", "--max-depth", "deep"], "a size is"),
        (["check", "HERE", "--out", "OUT", "--shard-size", "0"], "at least 1 byte"),
        (["check", "HERE", "--out", "OUT", "--scheduler", "tcp://x"], "dask"),
        (["resume"], "folder"),
        (["resume", "OUT", "--mode", "BATCH"], "No such option"),
        (["resume", "OUT", "--format", "jsonl"], "No such option"),
        (["updates", "HERE", "--out", "OUT", "--schema", "gone.json"], "gone.json"),
        (["check", "HERE", "--out", "OUT", "--schema", "FIVE"], "a schema is"),
        (["check", "HERE", "--out", "OUT", "--field", "a..b"], "not a path"),
    ],
)
def test_bad_usage_is_exit_2_and_makes_no_folder(
    tmp_path: Path, args: list[str], message: str
) -> None:
    names = {"HERE": str(log(tmp_path / "a.jsonl", GOOD)), "OUT": str(tmp_path / "out")}
    names["FIVE"] = str(log(tmp_path / "five.json", "5"))
    ran = batch(*[names.get(arg, arg) for arg in args])
    assert ran.returncode == 2, ran.stderr
    assert message in " ".join(re.sub("[│╭╮╰╯─]", "", ran.stderr).split())
    assert not (tmp_path / "out").exists()


def test_what_cannot_begin_or_be_written_is_one_line(tmp_path: Path) -> None:
    path = log(tmp_path / "a.jsonl", GOOD)
    for args, code, message in (
        (("check", path, "--out", path / "out"), 3, "Not a directory"),
        (("check", path, "--out", tmp_path), 2, "is not empty"),
        (("resume", tmp_path), 2, "has no manifest.json"),
    ):
        ran = batch(*args)
        assert ran.returncode == code and message in ran.stderr
        assert ran.stderr.startswith("jsonrill: ") and ran.stderr.count("\n") == 1


@few(1)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_says_how_to_go_on(tmp_path: Path, number: int) -> None:
    path, out = sample(tmp_path / "a.jsonl", 3000), tmp_path / "out put"
    process = subprocess.Popen(
        [*logs.COMMAND, "check", path, "--out", out, "--shard-size", "100kB", "--workers", "2"],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=logs.ENV,
        start_new_session=True,
    )
    logs.wait_for(lambda: done(out) > 0 or process.poll() is not None)
    workers = logs.children(process.pid)
    # A terminal sends Ctrl-C to all of them.
    os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
    output, complaint = process.communicate(timeout=60)
    assert process.returncode == 130, complaint
    assert complaint.count("\n") == 1 and not output
    assert re.search(r"stopped, with \d+ of \d+ shards done. Continue with: (.*)\n", complaint)
    assert f"jsonrill batch resume '{out}'" in complaint
    assert not any(map(logs.is_alive, workers)) and not (out / "tmp").exists()
    ran = batch("resume", out, "--workers", 2)
    assert ran.returncode == 1 and "3 000 streams" in ran.stdout
    whole = tmp_path / "whole"
    batch("check", path, "--out", whole, "--shard-size", "100kB", *FAST)
    assert results(out) == results(whole)


def test_progress_is_shown_on_a_terminal(tmp_path: Path) -> None:
    path = sample(tmp_path / "a.jsonl", 800)
    master, slave = pty.openpty()
    args = ["check", path, "--out", tmp_path / "out", "--shard-size", "100kB", "--workers", "1"]
    process = subprocess.Popen(
        [*logs.COMMAND, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=slave,
        env={**logs.ENV, "COLUMNS": "120", "TERM": "xterm"},
    )
    os.close(slave)
    shown = b""
    try:
        while piece := os.read(master, 4096):
            shown += piece
    except OSError:  # the other end is closed
        pass
    out, _ = process.communicate()
    os.close(master)
    text = shown.decode()
    assert re.search(r"\d+%", text) and "streams" in text and "/s" in text and "left" in text
    assert b"800 streams" in out


def test_a_pipe_gets_lines_instead_of_a_bar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jsonrill_batch import Progress
    from jsonrill_batch import cli as module

    monkeypatch.setattr(module, "EVERY", 0.0)
    lines: list[str] = []
    monkeypatch.setattr(module, "_complain", lines.append)
    show = module._lines()
    show(Progress(10, 1000, 5, 500, 100, 42, 3, 1, 2.0))
    assert lines == ["50 % · 42 streams · 200 bytes/s · 2.5 s left · 3 in quarantine · 1 failed"]


def test_the_exit_code_tells_bad_streams_from_a_failed_run(tmp_path: Path) -> None:
    good = log(tmp_path / "good.jsonl", GOOD)
    cut = log(tmp_path / "cut.jsonl", GOOD, '{"text": "[1,"}')
    empty = log(tmp_path / "empty.jsonl")
    for number, (kind, path, code) in enumerate(
        (kind, path, code)
        for kind in ("check", "values", "fragments", "updates")
        for path, code in ((good, 0), (cut, 1), (empty, 1))
    ):
        ran = batch(kind, path, "--out", tmp_path / f"out{number}", *FAST)
        assert ran.returncode == code, (kind, path, ran)
    assert ran.stdout and batch("values", empty, "--out", tmp_path / "e", *FAST).stderr == (
        "jsonrill: the input is empty\n"
    )
    gone = log(tmp_path / "gone.jsonl", GOOD)
    batch("check", gone, "--out", tmp_path / "out", *FAST)
    (tmp_path / "out" / "rows" / "part-00000.jsonl").unlink()
    (tmp_path / "out" / "rows").rmdir()
    (tmp_path / "out" / "rows").write_text("in the way")
    ran = batch("resume", tmp_path / "out", *FAST)
    assert ran.returncode == 3 and "jsonrill batch resume" in ran.stderr


def test_each_job_offers_only_what_it_takes() -> None:
    for kind, has, lacks in (
        ("check", "--schema <str>", "--mode"),
        ("updates", "--mode", "--provider"),
        ("calls", "TOOL=FILE", "--null"),
        ("chunks", "--null", "--repair"),
    ):
        shown = batch(kind, "--help").stdout
        assert has in shown and lacks not in shown
        assert "Example: jsonrill batch " + kind in " ".join(shown.split())


def test_help_has_an_example_and_the_exit_codes() -> None:
    ran = batch("--help")
    assert ran.returncode == 0 and "Example: jsonrill batch" in " ".join(ran.stdout.split())
    assert "Exit code 0" in ran.stdout


def test_a_type_may_be_in_the_folder_where_one_stands(tmp_path: Path) -> None:
    pytest.importorskip("pydantic")
    log(tmp_path / "kinds.py", "Numbers = list[int]")
    log(tmp_path / "a.jsonl", GOOD)
    args = ["check", "a.jsonl", "--out", "out", "--schema", "kinds:Numbers", "--workers", "1"]
    # As the command that is installed: the folder is not among the places of modules.
    command = [sys.executable, "-P", *logs.COMMAND[1:], *args]
    ran = subprocess.run(command, capture_output=True, text=True, env=logs.ENV, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr


def test_a_folder_with_an_odd_name_is_told(tmp_path: Path) -> None:
    path = log(tmp_path / "a.jsonl", GOOD)
    out = os.fsdecode(os.fsencode(tmp_path) + b"/o\xff\x1b[31m")
    ran = batch("check", path, "--out", out, *FAST)
    assert ran.returncode == 0 and "o\\udcff\\u001b[31m/" in ran.stdout, ran.stderr
