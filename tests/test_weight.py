"""What `import jsonrill` costs, in time and in modules; the other weights are measured where wheels
are made (test_packaging.py, hard_weight.py)."""

from __future__ import annotations

import json
import subprocess
import sys

from support import SLACK
from support.costs import IMPORT_MS

SCRIPT = """
import json, sys, time
before = {*sys.modules}
began = time.process_time()
import jsonrill
imported = time.process_time() - began
after_import = {*sys.modules} - before
assert [*jsonrill.values(['{"a": [1, ', '2]}'])][-1] == {"a": [1, 2]}
after_reading = {*sys.modules} - before
print(json.dumps([imported * 1000, sorted(after_import), sorted(after_reading)]))
"""
# What comes when it is used.
LATER = ("schema", "providers", "dialects", "toolcalls", "partial_stream", "chunker", "cli", "demo")


def measured() -> tuple[float, list[str], list[str]]:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, check=True)
    milliseconds, imported, read = json.loads(done.stdout)
    return milliseconds, imported, read


def test_import_is_quick_and_loads_what_reading_text_needs() -> None:
    """The least of several processes, in processor time: other programs do not count."""
    runs = [measured() for _ in range(5)]
    best = min(milliseconds for milliseconds, _, _ in runs)
    _, imported, read = runs[0]
    ours = [name for name in read if name.split(".")[0] == "jsonrill"]
    print(f"import jsonrill: {best:.1f} ms, {len(imported)} modules, {len(ours)} of ours to read")
    assert best <= IMPORT_MS * SLACK
    # Of ours the package alone, and nothing of Python that takes long: the rest comes later.
    assert [name for name in imported if name.split(".")[0] == "jsonrill"] == ["jsonrill"]
    assert not {"ast", "asyncio", "dataclasses", "inspect", "json"} & set(imported)
    assert "asyncio" not in read
    for name in LATER:
        assert not any(it.startswith(f"jsonrill.{name}") for it in read), name
    assert "jsonrill.parse.lenient.inside" not in read


def test_nothing_but_the_standard_library_is_loaded() -> None:
    _, _, read = measured()
    others = {name.split(".")[0] for name in read} - sys.stdlib_module_names
    assert others == {"jsonrill"}
