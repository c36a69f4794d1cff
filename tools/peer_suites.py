"""Reads the texts of other projects' test suites with `repair`, and answers that hold no JSON.

    python tools/peer_suites.py --fetch build/peers   gets the source distributions that have tests
    python tools/peer_suites.py build/peers           reads their texts: valid, read, refused
    python tools/peer_suites.py --answers FILE        reads recorded answers (`calls.jsonl`)
    python tools/peer_suites.py --pairs FOLDER        compares: files of [text, JSON, class]

A text is any string with a bracket in a test file. It must be read alike whole and character by
character, valid JSON as `json.loads` reads it, and nothing but the documented errors may be raised.
`--show` lists what was read, for a look by eye. If json_repair is installed, only what it reads
otherwise. Of json_repair's tests, which compare with a value, the tool also counts how many get
that value (`same`), none (`refused`) or another one (`other`, each shown). So it does with pairs
that somebody wrote down from suites that no distribution has; there "!" is a text to be refused.
Nothing that is fetched belongs into the repository: `build/` is ignored.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonrill import Document, InvalidJSON, LimitExceeded
from jsonrill.parse.lenient.rules import RULES

# The last source distribution of json_repair that has its tests.
JSON_REPAIR = "json_repair==0.55.0"
PYTHON = ("dirtyjson", "langchain-core", "json5", "hjson", "demjson3", JSON_REPAIR)
NPM = ("best-effort-json-parser", "ai", "dirty-json", "jsonrepair", "partial-json")
# Their source distributions have no tests; named so that nobody looks for them again.
WITHOUT_TESTS = ("partial-json-parser", "jsonrepair", "partial-json", "baml-py")
LITERAL = re.compile(
    r"'((?:[^'\\\n]|\\.)*)'|\"((?:[^\"\\\n]|\\.)*)\"|`((?:[^`\\$]|\\.)*)`", re.DOTALL
)
REFUSED: Any = object()


def fetch(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in PYTHON:
        words = ("download", "-q", "--no-deps", "--no-binary", ":all:", name)
        subprocess.run([sys.executable, "-m", "pip", *words], cwd=folder, check=False)
    for name in NPM:
        subprocess.run(["npm", "pack", "--silent", name], cwd=folder, check=False)


def texts(archive: Path) -> Iterator[str]:
    """The strings with a bracket in the test files of a distribution."""
    with tarfile.open(archive) as files:
        for member in files:
            if not re.search(r"test|spec", member.name) or not member.isfile():
                continue
            file = files.extractfile(member)
            assert file is not None
            source = file.read().decode("utf8", "replace")
            if member.name.endswith(".py"):
                yield from (it for it in _python(source) if re.search(r"[{\[]", it))
            elif re.search(r"\.[cm]?[jt]sx?$", member.name):
                yield from (it for it in _javascript(source) if re.search(r"[{\[]", it))


def _python(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _javascript(source: str) -> Iterator[str]:
    for literal in LITERAL.finditer(source):
        quoted = next(part for part in literal.groups() if part is not None)
        inside = re.sub(r"\\(['`])", r"\1", quoted)
        inside = re.sub(r'(?<!\\)"', r"\"", inside).replace("\n", "\\n").replace("\t", "\\t")
        try:
            yield json.loads(f'"{inside}"')
        except ValueError:  # an escape that JSON does not have
            continue


def expectations(archive: Path) -> Iterator[tuple[str, Any]]:
    """Texts and values that the tests of json_repair compare: `repair_json(text) == value`."""
    with tarfile.open(archive) as files:
        for member in files:
            if not re.search(r"test_(?:parse_\w+|json_repair)\.py$", member.name):
                continue
            file = files.extractfile(member)
            assert file is not None
            for node in ast.walk(ast.parse(file.read())):
                match node:
                    case ast.Compare(
                        left=ast.Call(
                            func=ast.Name(id="repair_json" | "loads"),
                            args=[ast.Constant(value=str() as text)],
                            keywords=keywords,
                        ),
                        ops=[ast.Eq()],
                        comparators=[expected],
                    ) if {one.arg for one in keywords} <= {"return_objects", "skip_json_loads"}:
                        try:
                            value = ast.literal_eval(expected)
                        except ValueError:
                            continue
                        as_text = isinstance(value, str) and not keywords
                        yield text, value if not as_text else _value(value)


def _value(text: str) -> Any:
    """What a text of JSON stands for; "" stands for nothing."""
    return json.loads(text) if text else REFUSED


def pairs(folder: Path) -> int:
    for file in sorted(folder.glob("*.json")):
        rows = json.loads(file.read_text("utf8"))
        compared(file.name, {text: _value(wanted.strip("!")) for text, wanted, _ in rows})
    return 0


def compared(name: str, values: dict[str, Any]) -> None:
    """How many of their values are read as they say, with strings without quotes as they have."""
    counts: Counter[str] = Counter()
    for text, value in values.items():
        ours = read([text], every=True)
        assert written(read([*text], every=True)) == written(ours), text
        kind = "same" if written(ours) == written(value) else "other"
        if ours is REFUSED and value is not REFUSED:
            kind = "refused"
        counts[kind] += 1
        if kind != "same":
            print(f"{kind}: {text[:200]!r}\n    {written(ours)[:200]}\n    {written(value)[:200]}")
    print(f"{name}, values of its own tests: {dict(counts)}")


def read(pieces: list[str], every: bool = False) -> Any:
    """The value, by the usual rules or by every rule that there is."""
    document = Document(repair=[*RULES] if every else True)
    try:
        for piece in pieces:
            document.feed(piece)
        document.flush()
    except (InvalidJSON, LimitExceeded):
        return REFUSED
    return document.value


def written(value: Any) -> str:
    return "refused" if value is REFUSED else json.dumps(value)


def suites(folder: Path, show: bool) -> int:
    try:
        from json_repair import loads as peer  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        peer = None
    total: Counter[str] = Counter()
    for archive in sorted((*folder.glob("*.tar.gz"), *folder.glob("*.tgz"))):
        counts: Counter[str] = Counter()
        for text in dict.fromkeys(texts(archive)):
            if len(text) > 20_000:
                continue
            value = read([text])
            kind = "refused" if value is REFUSED else "read"
            try:
                kind = "valid" if written(json.loads(text)) == written(value) else "WRONG"
            except (ValueError, RecursionError):
                pass
            if written(read([*text])) != written(value):
                kind = "CUT"
            counts[kind] += 1
            other = peer is None or written(peer(text)) != written(value)
            if kind in ("WRONG", "CUT") or (show and kind == "read" and other):
                print(f"{kind}: {text[:300]!r}\n    {written(value)[:300]}")
        print(f"{archive.name}: {dict(counts)}")
        if archive.name.startswith("json_repair"):
            compared(archive.name, dict(expectations(archive)))
        total += counts
    print(f"all: {dict(total)}; without tests: {', '.join(WITHOUT_TESTS)}")
    return 1 if total["WRONG"] or total["CUT"] else 0


def answers(file: Path) -> int:
    """Answers in prose must read as nothing: no bracket of them begins a value."""
    counts: Counter[str] = Counter()
    with file.open(encoding="utf8") as lines:
        texts = (text for line in lines for text in _strings(json.loads(line).get("events")))
        for text in dict.fromkeys(texts):
            if len(text) < 20 or text.lstrip()[:1] in ("{", "[", '"'):
                continue
            value = read([text])
            counts["no value" if value is REFUSED else "a value"] += 1
            if value is not REFUSED:
                print(f"{text[:200]!r}\n    {written(value)[:200]}")
    print(dict(counts))
    return 0


def _strings(events: Any) -> Iterator[str]:
    """All texts in a recording, and those at one place of all its events joined, as deltas are."""
    joined: dict[tuple[str, ...], str] = {}
    waiting: list[tuple[tuple[str, ...], Any]] = [((), events)]
    while waiting:
        path, one = waiting.pop()
        if isinstance(one, str):
            joined[path] = joined.get(path, "") + one
            if " " in one:
                yield one
        elif isinstance(one, dict):
            waiting += reversed([((*path, key), member) for key, member in one.items()])
        elif isinstance(one, list):
            waiting += reversed([(path, element) for element in one])
    yield from (text for text in joined.values() if " " in text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--answers", action="store_true")
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("--show", action="store_true")
    chosen = parser.parse_args()
    if chosen.fetch:
        fetch(chosen.path)
        return 0
    if chosen.pairs:
        return pairs(chosen.path)
    return answers(chosen.path) if chosen.answers else suites(chosen.path, chosen.show)


if __name__ == "__main__":
    sys.exit(main())
