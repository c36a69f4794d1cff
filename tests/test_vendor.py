"""The parser to vendor: one file without jsonrill that reads as the library reads, strictly.

The library decides. Each text is fed to both, in the same pieces, and after each piece all that a
`Document` shows must be the same, errors with their messages and places included.
"""

from __future__ import annotations

import ast
import asyncio
import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import vendor
from hypothesis import given
from hypothesis import strategies as st

import jsonrill
from support import ROOT, cases, cuttings, examples, pieces
from support.documents import tokens, values
from support.json_texts import ACCEPTED, FAMILIES, REFUSED, broken_utf8
from support.npm import TOOLS, installed

MOST_LINES = 1500


def load(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # dataclasses need that
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("vendored") / "jsonrill_partial.py"
    vendor.write(target)
    return target


@pytest.fixture(scope="module")
def vendored(path: Path) -> ModuleType:
    return load("jsonrill_partial", path)


def told(error: Exception) -> tuple[Any, ...]:
    """All that an error says."""
    fields = ("offset", "line", "column", "path", "expected", "limit")
    known = [getattr(error, name, None) for name in fields]
    to_dict = getattr(error, "to_dict", dict)
    return type(error).__name__, str(error), *known, to_dict()


def shown(module: Any, fed: list[Any], limits: Any = None, **options: Any) -> list[Any]:
    """All that a `Document` shows after each piece, as text; and its error."""
    document = module.Document(**options, limits=limits and module.Limits(**limits))
    seen: list[Any] = []

    def show(*more: Any) -> None:
        facts = (document.value, document.live, document.open_path, document.pending)
        seen.append(repr((*more, *facts, document.started, document.complete, document.changed)))

    try:
        for piece in fed:
            show(document.feed(piece))
        show(document.flush())
    except (ValueError, module.JsonrillError) as error:
        show(told(error))
        with pytest.raises(module.StreamClosed):
            document.feed("1")
    return seen


def agree(module: ModuleType, fed: list[Any], **options: Any) -> None:
    assert shown(module, fed, **options) == shown(jsonrill, fed, **options), (fed, options)


# ---- the file ----


def test_it_is_short_and_needs_only_the_standard_library(path: Path) -> None:
    text = path.read_text("utf8")
    assert len(text.splitlines()) <= MOST_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            assert not node.level and node.module in sys.stdlib_module_names | {
                "collections.abc",
                "json.decoder",
                "json.encoder",
            }
        elif isinstance(node, ast.Import):
            assert {it.name for it in node.names} <= sys.stdlib_module_names


def test_it_says_what_it_is(path: Path) -> None:
    header = path.read_text("utf8").partition('"""\n\n')[0]
    assert f"jsonrill {jsonrill.__version__}" in header
    assert (ROOT / "LICENSE").read_text("utf8").strip() in header


def test_nothing_is_left_of_what_is_not_in_it(path: Path) -> None:
    code = path.read_text("utf8").partition('"""\n\n')[2]
    for word in (
        "lenien",
        "repair",
        "compile",
        "schema",
        "many documents",
        "provider",
        "_wary",
        "_many",
    ):
        assert word not in code.replace("re.compile(", ""), word


def test_linters_and_formatters_find_nothing(path: Path) -> None:
    config = f"--config={ROOT / 'pyproject.toml'}"
    for command in (("check",), ("format", "--check")):
        ruff = [sys.executable, "-m", "ruff", *command, "--no-cache", config, str(path)]
        subprocess.run(ruff, check=True, capture_output=True)


def test_it_runs_without_any_installed_package(path: Path) -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(path.parent)!r})\n"
        "from jsonrill_partial import Document, partial, values\n"
        "assert 'jsonrill' not in sys.modules\n"
        """print(partial('{"title": "Les Mis'), [*values(['[1', ', 2]'])], Document().value)"""
    )
    command = [sys.executable, "-I", "-S", "-c", program]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout == "{'title': 'Les Mis'} [[], [1, 2]] None\n"


def test_its_names_are_those_of_the_library(vendored: ModuleType) -> None:
    assert {*vendored.__all__} <= {*jsonrill.__all__}
    for name in vendored.__all__:
        assert getattr(vendored, name).__name__ == name


# ---- it reads as the library reads ----


@pytest.mark.parametrize("family", FAMILIES)
def test_texts_of_every_part_of_the_grammar(vendored: ModuleType, family: str) -> None:
    for text in FAMILIES[family]():
        agree(vendored, [text])
        agree(vendored, [*text])


def test_texts_that_are_json_or_are_not_in_any_cutting(vendored: ModuleType) -> None:
    for text in (*ACCEPTED, *REFUSED):
        for cut in cuttings(text):
            agree(vendored, cut)
        agree(vendored, [text.encode("utf8", "surrogatepass")])


def test_bytes_that_are_not_utf8(vendored: ModuleType) -> None:
    for data in broken_utf8():
        agree(vendored, [data])
        agree(vendored, [data[at : at + 1] for at in range(len(data))])
    agree(vendored, [b"\xef", b"\xbb", b"\xbf[1", b"]"])
    agree(vendored, [b'["\xc3', "x"])


def test_the_cases_that_every_language_passes(vendored: ModuleType) -> None:
    for case in cases("fragments.json")["cases"]:
        agree(vendored, case["feeds"])
    for name in ("near_json.json", "repair.json"):
        for case in cases(name)["cases"]:
            text = case["text"]
            agree(vendored, [text])
            agree(vendored, [*text])


@examples(40)
@given(st.data())
def test_any_json_in_any_pieces(vendored: ModuleType, data: st.DataObject) -> None:
    text = "".join(data.draw(tokens(data.draw(values))))
    agree(vendored, data.draw(pieces(text)))
    agree(vendored, data.draw(pieces(text.encode("utf8", "surrogatepass"))))


@examples(40)
@given(st.data())
def test_any_json_with_a_fault_in_any_pieces(vendored: ModuleType, data: st.DataObject) -> None:
    text = "".join(data.draw(tokens(data.draw(values))))
    at = data.draw(st.integers(0, len(text)))
    new = data.draw(st.text("{}[]\",:\\u0123eE+-.tfn \n\x00\x1e/'", max_size=3))
    spoiled = text[:at] + new + text[at + data.draw(st.integers(0, 2)) :]
    agree(vendored, data.draw(pieces(spoiled)))
    agree(vendored, data.draw(pieces(spoiled)), duplicates="error")


@examples(40)
@given(st.data())
def test_any_limits(vendored: ModuleType, data: st.DataObject) -> None:
    text = "".join(data.draw(tokens(data.draw(values))))
    names = st.sampled_from(["depth", "text", "string", "number", "keys"])
    limits = data.draw(st.dictionaries(names, st.integers(1, 12), min_size=1))
    agree(vendored, data.draw(pieces(text)), limits=limits)


LARGE = {
    "rows": "[" + ", ".join(f'{{"id": {n}, "name": "row {n}"}}' for n in range(200)) + "]",
    "too many digits": "[" + "1" * 5000 + "]",
    "a long number in rows": '[{"id": 1, "n": ' + "9" * 401 + "}, " + '{"id": 2},' * 60 + "1]",
    "constants": '{"a": [' + "1, " * 40 + "NaN]}",
    "deep and closed": "[" * 300 + "]" * 300,
    "many lines": "[\n" + '  "line",\n' * 100 + "  oops\n]",
}


@pytest.mark.parametrize("name", LARGE)
def test_pieces_large_enough_for_the_scanner_in_c(vendored: ModuleType, name: str) -> None:
    text = LARGE[name]
    for size in (len(text), len(text) // 2, 700, 64, 7):
        agree(vendored, [text[at : at + size] for at in range(0, len(text), size)])


def test_what_nests_deeply(vendored: ModuleType) -> None:
    levels = 50_000
    document = vendored.Document(limits=vendored.Limits(depth=levels))
    for text in ('{"a":[' * (levels // 2), "]}" * (levels // 2)):
        document.feed(text)
    document.flush()
    assert document.complete
    with pytest.raises(vendored.LimitExceeded, match="depth"):
        vendored.partial("[" * 300)


def test_options_are_checked_as_in_the_library(vendored: ModuleType) -> None:
    agree(vendored, ["[0.1, 1e5, 2]"], parse_float=Decimal)
    agree(vendored, ["[1e99999999999999999999]"], parse_float=Decimal)
    wrong: list[dict[str, Any]] = [{"duplicates": "first"}, {"parse_float": 3}, {"limits": 3}]
    for options in wrong:
        with pytest.raises(ValueError) as library:
            jsonrill.Document(**options)
        with pytest.raises(ValueError) as here:
            vendored.Document(**options)
        assert str(here.value) == str(library.value)
    for option in ("repair", "many", "unknown"):
        with pytest.raises(TypeError, match=option):
            vendored.partial("1", **{option: True})
    with pytest.raises(TypeError, match="str or bytes, not int"):
        vendored.Document().feed(3)


# ---- its functions ----


def test_partial_of_every_beginning(vendored: ModuleType) -> None:
    text = '{"a": [1.5, true, {"b": "x\\u00e9\\n"}], "c": null}'
    for end in range(len(text) + 1):
        assert vendored.partial(text[:end]) == jsonrill.partial(text[:end])
        assert vendored.partial(text[:end].encode()) == jsonrill.partial(text[:end])


def collected(module: Any, source: Any, **options: Any) -> list[Any]:
    seen: list[Any] = []
    try:
        for value in module.values(source, **options):
            seen.append(repr(value))
    except module.JsonrillError as error:
        name, _, *place, _ = told(error)  # the functions of the library word some messages anew
        seen.append((name, *place))
    return seen


@examples(30)
@given(st.data())
def test_values_are_those_of_the_library(vendored: ModuleType, data: st.DataObject) -> None:
    text = "".join(data.draw(tokens(data.draw(values))))
    fed = data.draw(pieces(text[: data.draw(st.integers(0, len(text)))]))
    for live in (False, True):
        assert collected(vendored, fed, live=live) == collected(jsonrill, fed, live=live)


def test_values_of_a_text_and_of_no_text(vendored: ModuleType) -> None:
    for source in ("[1]", b"[1]", bytearray(b"[1]"), "", [], ['{"a": "b', 'c" x']):
        assert collected(vendored, source) == collected(jsonrill, source)


def test_values_of_an_async_source_and_its_end(vendored: ModuleType) -> None:
    closed: list[str] = []

    async def source() -> AsyncIterator[str]:
        try:
            for piece in ('{"a"', ': "x', 'y"}'):
                yield piece
        finally:
            closed.append("async")

    async def read(most: int) -> list[Any]:
        seen: list[Any] = []
        stream = vendored.values(source())
        async for value in stream:
            seen.append(value)
            if len(seen) == most:
                break
        await stream.aclose()
        return seen

    assert asyncio.run(read(9)) == [{}, {"a": "x"}, {"a": "xy"}]
    assert asyncio.run(read(1)) == [{}]
    assert closed == ["async"] * 2


def test_a_source_that_is_left_early_is_closed(vendored: ModuleType) -> None:
    closed: list[str] = []

    def source() -> Iterator[str]:
        try:
            yield from ("[1,", "2,", "3]")
        finally:
            closed.append("sync")

    stream = vendored.values(opened := source())
    assert next(stream) == [1]
    stream.close()
    assert closed == ["sync"] and next(opened, None) is None


# ---- the same in JavaScript ----

BOTH = """
import * as one from "%s";
import * as all from "%s";
import { readFileSync } from "node:fs";
const told = (error) => [error.constructor.name, error.message, error.offset, error.path];
function shown({ Document, partial }, text) {
  const seen = [];
  const document = new Document();
  try {
    for (const piece of text) seen.push([document.feed(piece), document.value, document.openPath]);
    seen.push(document.flush());
  } catch (error) { seen.push(told(error)); }
  try { seen.push(partial(text)); } catch (error) { seen.push(told(error)); }
  return JSON.stringify(seen);
}
for (const text of JSON.parse(readFileSync(0, "utf8"))) {
  if (shown(one, text) !== shown(all, text)) throw new Error(JSON.stringify(text));
}
console.log(Object.keys(one).join(" "));
"""


def test_the_file_of_javascript_reads_as_its_library_reads(tmp_path: Path) -> None:
    esbuild = installed(TOOLS, "npm") / "node_modules" / ".bin" / "esbuild"
    target = tmp_path / "jsonrill_partial.js"
    vendor.write_js(target, esbuild)
    assert not re.search(r"^import |require\(", target.read_text("utf8"), re.MULTILINE)
    library = ROOT / "js" / "src" / "index.js"
    program = tmp_path / "both.mjs"
    program.write_text(BOTH % (target.as_uri(), library.as_uri()))
    texts = json.dumps([*ACCEPTED, *REFUSED])
    command = ["node", str(program)]
    done = subprocess.run(command, input=texts, check=True, capture_output=True, text=True)
    names = {*vendored_names(vendor.JS_ENTRY)}
    assert {*done.stdout.split()} == names


def vendored_names(entry: str) -> Iterator[str]:
    for names in re.findall(r"{([^}]+)}", entry):
        yield from re.findall(r"\w+", names)
