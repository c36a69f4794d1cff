"""What `import jsonrill` loads; the time it takes is in hard_weight.py, and so is the weight of the
compiled wheel; that of the pure one is in test_packaging.py."""

from __future__ import annotations

import json
import subprocess
import sys

SCRIPT = """
import sys
before = {*sys.modules}
import jsonrill
after_import = {*sys.modules} - before
assert [*jsonrill.values(['{"a": [1, ', '2]}'])][-1] == {"a": [1, 2]}
after_reading = {*sys.modules} - before
import json
print(json.dumps([sorted(after_import), sorted(after_reading)]))
"""
# What comes when it is used.
LATER = ("schema", "providers", "dialects", "toolcalls", "partial_stream", "chunker", "cli", "demo")


def loaded() -> tuple[list[str], list[str]]:
    """The modules that come with the import, and with reading a text after it."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, check=True)
    imported, read = json.loads(done.stdout)
    return imported, read


def test_import_loads_what_reading_text_needs() -> None:
    imported, read = loaded()
    # Of ours the package alone, and nothing of Python that takes long: the rest comes later.
    assert [name for name in imported if name.split(".")[0] == "jsonrill"] == ["jsonrill"]
    assert not {"ast", "asyncio", "dataclasses", "inspect", "json"} & set(imported)
    assert "asyncio" not in read
    for name in LATER:
        assert not any(it.startswith(f"jsonrill.{name}") for it in read), name
    assert "jsonrill.parse.repair" not in read


def test_nothing_but_the_standard_library_is_loaded() -> None:
    _, read = loaded()
    others = {name.split(".")[0] for name in read} - sys.stdlib_module_names
    assert others == {"jsonrill"}
