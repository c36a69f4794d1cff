"""`make test-compat`: the drop-ins beside the packages themselves, and under their own suites."""

from __future__ import annotations

import io
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ijson
import json_repair
import partial_json_parser
import pytest

from jsonrill.compat import ijson as our_ijson
from jsonrill.compat import json_repair as our_json_repair
from jsonrill.compat import partial_json_parser as our_partial_json_parser
from support import ROOT

from .growing_texts import beginnings, outcome, text

FOLDER = ROOT / "build" / "originals"
Allow = partial_json_parser.Allow
ALLOWED = (
    *(Allow.ALL, Allow.ALL ^ Allow.STR, Allow.ALL ^ Allow.NUM, Allow.ALL ^ Allow.BOOL, Allow.OBJ),
    *(Allow.OBJ | Allow.ARR, Allow.ARR | Allow.STR, Allow.ALL ^ Allow.ARR, Allow(0)),
)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize(
    "theirs, ours, choices, count",
    [
        (
            partial_json_parser.loads,
            our_partial_json_parser.loads,
            [{"allow_partial": allow} for allow in ALLOWED] + [{"use_fast_fix": False}],
            300,
        ),
        (json_repair.loads, our_json_repair.loads, [{}, {"stream_stable": True}], 300),
    ],
    ids=["partial_json_parser", "json_repair"],
)
def test_growing_texts(
    theirs: Callable[..., Any], ours: Callable[..., Any], choices: list[Any], count: int
) -> None:
    chance = random.Random(41)
    for _ in range(count):
        options = chance.choice(choices)
        for beginning in beginnings(chance, text(chance)):
            expected = outcome(theirs, beginning, **options)
            assert outcome(ours, beginning, **options) == expected, (beginning, options)


@pytest.mark.usefixtures("eager")
def test_a_key_that_comes_again_with_a_value_that_is_not_shown() -> None:
    data = '{"a": {"b": 1, "b": [2, {"c": 3}], "b": [4, {"d": "e'
    for end in range(1, len(data) + 1):
        for allow in ALLOWED:
            expected = outcome(partial_json_parser.loads, data[:end], allow)
            assert outcome(our_partial_json_parser.loads, data[:end], allow) == expected, end


def test_ijson_on_complete_texts() -> None:
    backend = ijson.get_backend("python")
    chance = random.Random(41)
    prefixes = ("", "item", "a0", "a0.item", "item.item", "item.a1", "b1.item")
    for _ in range(300):
        data = text(chance, noise=0).encode()
        calls: list[tuple[str, tuple[str, ...]]] = [("basic_parse", ()), ("parse", ())]
        calls += [(name, (chance.choice(prefixes),)) for name in ("items", "kvitems")]
        for name, words in calls:
            expected = list(getattr(backend, name)(io.BytesIO(data), *words))
            read = list(getattr(our_ijson, name)(io.BytesIO(data), *words, buf_size=7))
            assert repr(read) == repr(expected), (name, words, data)


def suite(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run tests of a suite with the drop-ins in the places of what they test."""
    here = str(Path(__file__).parent)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "original_plugin", "-rf", *words]
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": here},
    )


def passed(done: subprocess.CompletedProcess[str], least: int) -> None:
    """No test failed, and there were some."""
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    [count] = re.findall(r"(\d+) passed", done.stdout)
    assert int(count) >= least


def unpacked(name: str) -> Path:
    [folder] = FOLDER.glob(f"{name}-*[0-9]/")
    return folder


def test_the_suite_of_langchain() -> None:
    files = "tests/unit_tests/output_parsers/test_json.py"
    done = suite(
        files, "--disable-socket", "--allow-unix-socket", folder=unpacked("langchain_core")
    )
    passed(done, 30)


def test_the_suite_of_ijson() -> None:
    files = [f"tests/test_{name}.py" for name in ("basic_parse", "parse", "items", "kvitems")]
    # Coroutines that are sent to, and iterables as sources, are left to ijson.
    chosen = ("-p", "no:asyncio", "-k", "python-file or python-async_file")
    passed(suite(*files, *chosen, folder=unpacked("ijson")), 150)
