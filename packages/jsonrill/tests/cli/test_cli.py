"""The command line as a shell sees it: lines in, lines out, errors in one line, exit codes."""

from __future__ import annotations

import gzip
import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import BASE, ENV, call

import jsonrill
from jsonrill import Rebuilder
from jsonrill.cli import main
from jsonrill.parse.options import RULES
from support import LIBRARY, ROOT, few

pytest.importorskip("typer")

COMMANDS = (
    *("values", "select", "updates", "fragments", "chunks", "calls", "batch"),
    "demo",
)
FILTERS = ("values", "updates", "fragments", "chunks", "calls")
EMPTY = [[name] for name in FILTERS] + [["select", "a"], ["repair"]]
STREAMS = LIBRARY / "demo" / "recordings"


def run(*args: str, stdin: str | bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return call(*args, stdin=stdin.encode() if isinstance(stdin, str) else stdin)


def lines(result: subprocess.CompletedProcess[bytes]) -> list[Any]:
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_values_are_shown_after_each_piece_that_changed_them() -> None:
    result = run("values", "--each", "--tokens", "4", stdin='{"a": "xyz", "b": [1, 2]}')
    shown = lines(result)
    assert shown[-1] == {"a": "xyz", "b": [1, 2]}
    assert {"a": "x"} in shown and len(shown) > 3


@pytest.mark.parametrize("cut", [[], ["--tokens", "4"]])
def test_in_a_pipe_each_document_is_written_once(cut: list[str]) -> None:
    text = '{"a": "xyz", "b": [1, 2]}'
    assert lines(run("values", *cut, stdin=text)) == [json.loads(text)]
    several = '{"a": 1} {"a": 1}\n"s" "st" "st" 12 3\n[] {}'
    shown = lines(run("values", "--many", *cut, stdin=several))
    assert shown == [{"a": 1}, {"a": 1}, "s", "st", "st", 12, 3, [], {}]


def test_a_value_before_an_error_is_written_too() -> None:
    result = run("values", "--tokens", "3", stdin='{"a": 1, "b": [2, x]}')
    assert (result.returncode, result.stdout) == (1, b'{"a":1,"b":[2]}\n')
    result = run("values", stdin="")
    assert (result.returncode, result.stdout) == (1, b"")


def test_selected_values_are_written_one_a_line() -> None:
    document = '{"total": 2, "results": [{"id": 1}, {"id": 2}], "x": 1}'
    assert lines(run("select", "results", stdin=document)) == [{"id": 1}, {"id": 2}]
    assert lines(run("select", "results[*].id", "--tokens", "3", stdin=document)) == [1, 2]
    result = run("select", "rows", stdin=document)
    assert (result.returncode, result.stdout) == (1, b"")
    assert result.stderr == b"jsonrill: the field rows never came\n"
    result = run("select", "a[", stdin=document)
    assert result.returncode == 2 and b"not a path" in result.stderr


def test_calls_recognise_an_event_stream() -> None:
    event = (STREAMS / "calls.jsonl").read_text("utf8").splitlines()[0]
    expected = run("calls", stdin=event)
    for begin in ("data: ", "\n\n: comment\n\nid: 1\ndata:", "\ufeffevent: message\ndata: "):
        assert run("calls", stdin=f"{begin}{event}\n\n").stdout == expected.stdout != b""
    events = (STREAMS / "calls.jsonl").read_text("utf8")
    assert lines(run("calls", stdin=events))[-1]["status"] == "complete"


def test_events_of_no_known_provider_are_an_error() -> None:
    for event in ('{"type": "unheard-of"}', "[1]"):
        result = run("calls", stdin=event)
        assert result.returncode == 1 and not result.stdout
        with pytest.raises(jsonrill.errors.UnknownSource) as error:
            list(jsonrill.tool_calls([event]))
        assert result.stderr.decode() == f"jsonrill: {error.value}\n"


@pytest.mark.parametrize("args", EMPTY, ids=" ".join)
def test_empty_input_is_exit_1(args: list[str], stdin: str = "\ufeff \n\n") -> None:
    result = run(*args, stdin=stdin)
    assert (result.returncode, result.stdout) == (1, b""), result
    assert result.stderr == b"jsonrill: the input is empty\n"


def test_an_event_stream_without_its_flag_is_an_error_that_names_the_flag() -> None:
    result = run("values", stdin='data: {"a": 1}\n\n')
    assert result.returncode == 1
    assert b"--sse" in result.stderr


def test_fragments_rebuild_the_value() -> None:
    text = '{"a": [1, "x\\n", null], "b": {"": true}}'
    rebuilder = Rebuilder()
    for item in lines(run("fragments", "--tokens", "3", stdin=text)):
        rebuilder.feed([item])
    assert rebuilder.value == json.loads(text)


def test_chunks_join_to_the_last_snapshot() -> None:
    snapshots = (STREAMS / "snapshots.jsonl").read_text("utf8")
    joined = "".join(map(str, lines(run("chunks", stdin=snapshots))))
    assert json.loads(joined) == json.loads(snapshots.splitlines()[-1])
    assert run("chunks", "--text", stdin=snapshots).stdout.decode() == joined + "\n"


def test_a_provider_log_is_input_of_updates() -> None:
    texts = ['{"title": "Sto', 'rm"}']
    events = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in texts]
    log = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    shown = lines(run("updates", "--sse", stdin=log))
    assert [update["data"] for update in shown] == [{"title": "Sto"}, {"title": "Storm"}]


def test_repairs_are_reported_on_standard_error() -> None:
    result = run("values", "--repair", "--report", stdin="Sure: {'a': True,}")
    assert lines(result) == [{"a": True}]
    rules = re.findall(
        r"repaired ([\w-]+) at character \d+ \(line \d+, column \d+\)", result.stderr.decode()
    )
    assert rules == ["around", "quotes", "words", "commas"]


def test_repairs_may_be_chosen() -> None:
    assert lines(run("values", "--rules", "commas", stdin="[1,]")) == [[1]]
    assert run("values", "--rules", "commas", stdin="[True]").returncode == 1
    wrong = run("values", "--rules", "magic", stdin="[]")
    assert wrong.returncode == 2 and next(iter(RULES)) in wrong.stderr.decode()


BAD = {
    "values": ('{"a" 1}', "at character 5, in root.a"),
    "updates": ('{"a" 1}', "at character 5, in root.a"),
    "fragments": ('{"a": [1 2]}', "at character 9, in root.a"),
    "chunks": ('{"a": "x"}\n{"a": "y"}\n', "root.a"),
    "calls": ("{oops\n", "is not an event"),
}


@pytest.mark.parametrize("command", FILTERS)
def test_bad_input_is_one_line_and_exit_1(command: str) -> None:
    text, where = BAD[command]
    for stdin, word in ((text.encode(), where), (b'{"a": "\xff"}\n', "")):
        result = run(command, stdin=stdin)
        assert result.returncode == 1 and result.stderr.count(b"\n") == 1
        assert result.stderr.startswith(b"jsonrill: ") and word in result.stderr.decode()


def test_errors_name_the_file_and_the_others_are_read(tmp_path: Path) -> None:
    for name, text in (("a", "[1]"), ("b", "[1 2]"), ("c", ""), ("d", "[4]")):
        (tmp_path / name).write_text(text)
    files = [str(tmp_path / name) for name in ("a", "b", "gone", "c", "d")]
    result = run("values", *files, "-", stdin="[,")
    assert result.returncode == 1
    assert result.stdout.splitlines() == [b"[1]", b"[1]", b"[4]", b"[]"]
    errors = result.stderr.decode().splitlines()
    assert [line.split(": ")[1] for line in errors] == [*files[1:4], "standard input"]
    assert "expected ',' or ']'" in errors[0] and errors[1].endswith("No such file or directory")
    assert errors[2].endswith("the input is empty")


def test_limits_are_flags() -> None:
    deep = '{"a": {"b": [1]}}'
    assert lines(run("values", "--limit", "depth=3", stdin=deep)) == [json.loads(deep)]
    result = run("values", "--limit", "depth=2", stdin=deep)
    assert result.returncode == 1 and b"--limit depth=N" in result.stderr
    for wrong in ("depth=x", "text=0", "no=1"):
        assert run("values", "--limit", wrong, stdin=deep).returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_one_line() -> None:
    with open("/dev/full", "wb") as full:
        options: Any = {"stdout": full, "stderr": subprocess.PIPE, "env": ENV, "timeout": 60}
        result = subprocess.run([*BASE, "values"], input=b'{"a": 1}', **options)
    assert result.returncode == 1
    assert result.stderr == b"jsonrill: standard output: No space left on device\n"


@pytest.mark.parametrize("args", [["values", "--nope"], ["updates", "--mode", "X"], ["nope"]])
def test_bad_usage_is_exit_2(args: list[str]) -> None:
    result = run(*args)
    assert result.returncode == 2 and result.stderr


@few(2)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example_that_runs(command: str, tmp_path: Path) -> None:
    help_text = " ".join(run(command, "--help").stdout.decode().split())
    match = re.search(r"Example: (.*?) (?:Arguments|Options|Commands):", help_text)
    assert match, help_text
    example = match.group(1)
    if command == "calls":
        (tmp_path / "log").write_text("data: [DONE]\n\n")
        example = example.replace("curl -sN ...", "cat log")
    if command == "batch":
        (tmp_path / "trip.json").write_text("{}")
        (tmp_path / "logs").mkdir()
        (tmp_path / "logs" / "a.jsonl.gz").write_bytes(gzip.compress(b'{"text": "[1]"}\n'))
    script = re.sub(r"\bjsonrill\b", shlex.join(BASE), example)
    result = subprocess.run(
        script, shell=True, cwd=tmp_path, capture_output=True, env=ENV, timeout=60
    )
    assert result.stdout or command == "calls"
    assert b"Traceback" not in result.stderr


def test_lines_are_flushed_as_the_text_comes() -> None:
    """The next program of a pipe sees a value while the model still writes."""
    child = subprocess.Popen(
        [*BASE, "values", "--each"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENV
    )
    assert child.stdin and child.stdout
    try:
        child.stdin.write(b'{"a": "x')
        child.stdin.flush()
        assert child.stdout.readline() == b'{"a":"x"}\n'
        child.stdin.write(b'y"}')
        child.stdin.flush()
        assert child.stdout.readline() == b'{"a":"xy"}\n'
    finally:
        child.stdin.close()
        assert child.wait(60) == 0
        child.stdout.close()


def test_a_broken_pipe_is_quiet(tmp_path: Path) -> None:
    (tmp_path / "long.json").write_text(json.dumps(list(range(20_000))))
    script = f"{shlex.join(BASE)} values --each --tokens 5 long.json | head -n 1"
    result = subprocess.run(
        ["bash", "-o", "pipefail", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        env=ENV,
        timeout=60,
    )
    assert (result.returncode, result.stderr) == (0, b"")
    assert len(result.stdout.splitlines()) == 1


def test_the_good_part_of_a_value_that_violates_its_schema_is_written(tmp_path: Path) -> None:
    pytest.importorskip("jsonschema_rs")
    schema = tmp_path / "schema.json"
    schema.write_text('{"properties": {"b": {"type": "string"}}}')
    result = run("values", "--schema", str(schema), stdin='{"a": 1, "b": {"c": 2}}')
    assert (result.returncode, json.loads(result.stdout)) == (1, {"a": 1})
    result = run("select", "[*]", "--schema", str(schema), stdin='[{"a": 1}, {"b": 2}]')
    assert (result.returncode, result.stdout) == (1, b'{"a":1}\n') and b"root[1].b" in result.stderr


def test_the_demo_is_plain_in_a_pipe_and_ends() -> None:
    result = run("demo")
    assert result.returncode == 0 and result.stderr == b""
    shown = result.stdout.decode()
    assert "\x1b" not in shown
    for part in ("text → values", "snapshots → text", "tool calls", "a wire for growing JSON"):
        assert part in shown
    assert "joined, the chunks are the last snapshot" in shown
    assert "2 of 2 calls complete" in shown
    assert "INVALID_SCHEMA" in shown and "stopped after" in shown


def commands_of(page: str) -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / page).read_text("utf8"), re.S)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    return [line for line in lines if re.search(r"(^|[|;] )jsonrill ", line)]


def as_in_a_shell(command: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    script = re.sub(r"(^|[|;] )jsonrill ", rf"\1{shlex.join(BASE)} ", command)
    words = ["bash", "-c", script]
    return subprocess.run(words, cwd=folder, capture_output=True, env=ENV, timeout=60)


@few(2)
@pytest.mark.parametrize("command", commands_of("README.md"))
def test_the_commands_of_the_readme_run_as_written(command: str) -> None:
    result = as_in_a_shell(command, ROOT)
    assert result.returncode == 0, result.stderr
    assert result.stdout


def test_the_commands_of_their_page_run_as_written(tmp_path: Path) -> None:
    *fine, broken = commands_of("docs/commands.md")
    for command in fine:
        result = as_in_a_shell(command, tmp_path)
        assert result.returncode == 0 and result.stdout, result.stderr
    result = as_in_a_shell(broken, tmp_path)
    assert result.returncode == 1
    shown = (result.stdout + result.stderr).decode().strip()
    assert f"```text\n{shown}\n```" in (ROOT / "docs" / "commands.md").read_text("utf8")


def test_the_version_is_printed() -> None:
    expected = re.escape(jsonrill.__version__) + r" \((compiled|pure Python)\)\n"
    assert re.fullmatch(f"jsonrill {expected}", run("--version").stdout.decode())


# ---- streams of the shell that are closed, not UTF-8, or marked ----


@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_a_closed_stream_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], stream: str
) -> None:
    """`<&-` and `>&-` in a shell; Python has None there."""
    stdin = io.TextIOWrapper(io.BytesIO(b'{"a": 1}'), "utf8")
    monkeypatch.setattr(sys, "argv", ["jsonrill", "values"])
    monkeypatch.setattr(sys, "stdin", stdin)
    monkeypatch.setattr(sys, stream, None)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    kind = {"stdin": "input", "stdout": "output"}[stream]
    assert capsys.readouterr().err == f"jsonrill: standard {kind} is closed\n"


def test_a_pipe_gets_utf8_in_every_locale() -> None:
    env = {**ENV, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    env |= {"PYTHONIOENCODING": "latin-1"}
    stdin = '{"a": "é→😀"}'.encode()
    result = subprocess.run(
        [*BASE, "values", "--pretty"], input=stdin, capture_output=True, env=env
    )
    assert result.returncode == 0, result.stderr
    assert "é→😀" in result.stdout.decode()


def test_errors_say_which_snapshot_and_which_line() -> None:
    result = run("chunks", stdin='{"a": "x"}\n\n{"a": "xy"}\n{"a": \n')
    assert result.returncode == 1
    [message] = result.stderr.decode().splitlines()
    assert message.startswith("jsonrill: item 3: the snapshot is not JSON: ")
    result = run("updates", stdin='{"a": 1,\n "b": x}')
    assert result.stderr.decode().endswith("(line 2, column 7)\n")


def test_the_demo_stops_quietly_when_its_reader_leaves() -> None:
    with subprocess.Popen(
        [*BASE, "demo", "--fast"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV
    ) as demo:
        assert demo.stdout is not None and demo.stderr is not None
        demo.stdout.close()
        assert demo.stderr.read() == b""
        assert demo.wait() == 0
