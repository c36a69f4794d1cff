"""docs/javascript.md says what only one of the packages has, and how many cases they share."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import subprocess
import typing
from pathlib import Path
from typing import Any

import pytest

import jsonrill
import jsonrill.wire
from support import CASES, ROOT, need_command
from support.npm import TOOLS, installed, project

PAGE = (ROOT / "docs" / "javascript.md").read_text("utf8")
SOURCES = (ROOT / "docs" / "values.md").read_text("utf8")
TESTS = ROOT / "js" / "tests"
FUNCTIONS = (
    "values fields text texts select updates fragments partial content parts tool_calls".split()
)
CLASSES = "Document Rebuilder Update Part ToolCall Fragment".split()
# In Python these live in modules and in the server's package.
IN_MODULES = {
    *("SSEDecoder SSEEncoder SSEEvent encode_event".split()),  # eventstream
    *("format_path parse_path to_pointer from_pointer".split()),  # paths
    *jsonrill.wire.__all__,
    *("to_openai to_ai_sdk to_ag_ui to_mcp_app ai_sdk_message".split()),  # dialects
    *("Runs Run RunEvent RunFailed Client AsyncClient ClientError".split()),  # jsonrill_server
}
PYTHON = {*jsonrill.__all__} | IN_MODULES
# The same under another name.
RENAMED = {"Update.to_dict", "Update.to_json", "Part.to_dict"}


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def options_of(function: Any) -> set[str]:
    """The options of a function: its keywords, written out or in a TypedDict."""
    names: set[str] = set()
    for form in (function, *typing.get_overloads(function)):
        for it in inspect.signature(form, eval_str=True).parameters.values():
            if it.kind is it.VAR_KEYWORD:
                [keywords] = typing.get_args(it.annotation) or [None]
                names |= set(typing.get_type_hints(keywords)) if keywords else set()
            elif it.kind is it.KEYWORD_ONLY or it.name in ("schema", "mode"):
                names.add(it.name)
    return names


def members_of(kind: Any) -> set[str]:
    kind = (*typing.get_args(kind), kind)[0]  # of a union, any one: they have the same
    names = {*dir(kind)}
    for base in kind.__mro__:
        names |= {*getattr(base, "__annotations__", {}), *getattr(base, "__slots__", ())}
    return {name for name in names if not name.startswith("_")}


def table(title: str) -> set[str]:
    """The names in the first column of a table of the page."""
    rows = PAGE.partition(f"| {title} | |\n| --- | --- |\n")[2].partition("\n\n")[0]
    names = [it for row in rows.splitlines() for it in re.findall(r"`(.+?)`", row.split("|")[1])]
    assert len(set(names)) == len(names)
    return set(names)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, dict[str, list[str]]]]:
    """The names of each entry of the npm package, with their options and members."""
    folder = tmp_path_factory.mktemp("members")
    shutil.copy(TESTS / "consumer" / "members.mjs", folder)
    project(folder, installed(TOOLS, "npm") / "node_modules")
    command = [need_command("node"), "members.mjs"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    members: dict[str, dict[str, dict[str, list[str]]]] = json.loads(done.stdout)
    return members


def test_what_python_alone_has(theirs: Any) -> None:
    index = theirs["index"]
    names = {*index, *theirs["repair"]}
    missing = {name for name in PYTHON if name not in names and camel(name) not in names}
    index["texts"] = index["text"]  # its options come last of any number of fields
    anywhere = {option for name in FUNCTIONS for option in index[camel(name)]["options"]}
    for name in FUNCTIONS:
        for option in options_of(getattr(jsonrill, name)):
            if camel(option) not in anywhere:
                missing.add(option)
            elif camel(option) not in index[camel(name)]["options"]:
                missing.add(f"{name}({option})")
    for name in CLASSES:
        ours = members_of(getattr(jsonrill, name))
        missing |= {f"{name}.{it}" for it in ours if camel(it) not in index[name]["members"]}
    assert missing - RENAMED == table("Python alone")


def test_what_javascript_alone_has(theirs: Any) -> None:
    ours = {camel(name) for name in PYTHON} | PYTHON
    names = exported("index.js")
    assert names <= theirs["index"].keys()
    assert names - ours == table("JavaScript alone")


def test_the_folders_are_those_of_python() -> None:
    """Who knows one language finds the way in the other; `views` is what React and others need."""
    ours = {it.name for it in (ROOT / "packages/jsonrill/src/jsonrill").iterdir() if it.is_dir()}
    # Of the server, of JavaScript alone, one file in Python, and names that index.js passes on.
    ours |= {"client", "views", "eventstream", "public"}
    theirs = {it.name.replace("-", "_") for it in (ROOT / "js" / "src").iterdir() if it.is_dir()}
    assert theirs <= ours


def test_the_top_of_the_library_has_few_files() -> None:
    """The entries of the npm package, and what every folder imports."""
    entries = {"index.js", "observe.js", "react.js", "repair.js", "split.js", "text.js"}
    names = {it.name for it in (ROOT / "js" / "src").iterdir() if it.is_file()}
    others = {"answer.js", "codes.js", "defaults.js", "errors.js", "jsontext.js", "paths.js"}
    assert names == entries | others


def exported(name: str) -> set[str]:
    """What a module of the library exports."""
    script = f"console.log(Object.keys(await import('./{name}')).join(' '))"
    command = [need_command("node"), "--input-type=module", "--eval", script]
    done = subprocess.run(command, cwd=ROOT / "js" / "src", check=True, capture_output=True)
    return {*done.stdout.decode().split()}


def count(file: Path, unknown: re.Pattern[str]) -> int:
    """The number of cases in a file, but for providers that JavaScript does not know."""
    data = json.loads(file.read_text("utf8"))
    if file.parent.name == "providers":
        return int(not unknown.search(file.stem))
    if isinstance(data, list):
        return len(data)
    lists = [data[name] for name in ("cases", "refused", "streams") if name in data]
    cases = [case for listed in lists for case in listed]
    return sum(not unknown.search(str(case.get("name", ""))) for case in cases)


def test_how_many_cases_are_shared() -> None:
    scripts = "\n".join(file.read_text("utf8") for file in sorted(TESTS.glob("*.test.js")))
    rows = re.findall(r"^\| .*\(((?:`\w+`(?:, )?)+)\) \|.*\| – \|$", SOURCES, re.MULTILINE)
    pattern = "|".join(name for names in rows for name in re.findall(r"\w+", names))
    assert "langgraph" in pattern
    files = {CASES / name for name in re.findall(r'\bcases\("(\w+\.json)"\)', scripts)}
    files |= set((CASES / "providers").glob("*.json"))
    counts = {file: count(file, re.compile(pattern)) for file in files}
    total, files_with = sum(counts.values()), sum(1 for number in counts.values() if number)
    sentence = re.search(r"Both read the same cases, over ([0-9]+) in over ([0-9]+) files of", PAGE)
    assert sentence is not None
    # The page says less than there is, but not by much.
    for number, documented in ((total, int(sentence[1])), (files_with, int(sentence[2]))):
        assert documented < number < documented * 1.25, (total, files_with)


def test_errors_have_the_same_codes() -> None:
    """`StreamClosed` was CLOSED in Python, STREAM_CLOSED in JavaScript."""
    rows = re.findall(r"^\| `(\w+)` \| `([A-Z_]+)` \|", PAGE, re.MULTILINE)
    classes = {name: getattr(jsonrill, name) for name, _ in rows if hasattr(jsonrill, name)}
    assert "StreamClosed" in classes and len(classes) >= 8
    assert {name: it.code for name, it in classes.items()} == {
        name: code for name, code in rows if name in classes
    }
