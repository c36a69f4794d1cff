"""Tests with the lowest and the newest versions that the packages allow: `make test-ranges`.

Each group of dependencies has two environments of its own in .venv/ranges, without constraints.txt:
everything else in them is as new as it gets. Names as arguments choose groups: `python
tools/ranges.py server`; `--lowest` or `--newest` chooses one end.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
LIBRARY: Final = "packages/jsonrill"
SERVER: Final = "packages/jsonrill-server"
BATCH: Final = "packages/jsonrill-batch"
# What runs the tests.
RUNNERS: Final = ("pytest", "hypothesis")


class Group(NamedTuple):
    """Dependencies that are tried together, what is installed with them, and the tests."""

    dependencies: tuple[str, ...]
    install: tuple[str, ...]
    tests: tuple[str, ...]
    # Of others, what the tests themselves import.
    others: tuple[str, ...] = ()


GROUPS: Final = {
    "pydantic": Group(
        ("pydantic",),
        (f"{LIBRARY}[pydantic]",),
        tuple(f"{LIBRARY}/tests/schema/test_{name}.py" for name in ("schema_pydantic", "typed")),
        ("jsonschema-rs",),
    ),
    "jsonschema": Group(
        ("jsonschema-rs",),
        (f"{LIBRARY}[jsonschema]",),
        (f"{LIBRARY}/tests/schema/test_schema.py",),
        ("pydantic",),
    ),
    "opentelemetry": Group(
        ("opentelemetry-api",),
        (f"{LIBRARY}[opentelemetry,pydantic]",),
        (f"{LIBRARY}/tests/ext/test_opentelemetry.py",),
        ("opentelemetry-sdk",),
    ),
    "cli": Group(
        ("typer", "rich"),
        (f"{LIBRARY}[cli,pydantic,jsonschema]", BATCH),
        (f"{LIBRARY}/tests/cli/test_cli.py",),
        ("openai",),
    ),
    "server": Group(
        ("starlette", "uvicorn", "httpx2"),
        (f"{LIBRARY}[cli,pydantic,jsonschema]", SERVER),
        (f"{SERVER}/tests/server/test_streams.py", f"{SERVER}/tests/test_client.py"),
        ("openai",),
    ),
    "stores": Group(
        ("redis", "psycopg"),
        (f"{LIBRARY}[cli,pydantic,jsonschema]", f"{SERVER}[redis,postgres]"),
        (f"{SERVER}/tests/store/test_conformance.py",),
    ),
    "batch": Group(
        ("dask", "pyarrow", "zstandard"),
        (f"{LIBRARY}[cli,pydantic,jsonschema]", BATCH),
        tuple(f"{BATCH}/tests/batch/test_{name}.py" for name in ("dask", "exports", "reading")),
    ),
}


def lowest_versions() -> dict[str, str]:
    """Every dependency of the packages as the requirement of its lowest version."""
    files = [
        package / name
        for package in map(ROOT.joinpath, (LIBRARY, SERVER, BATCH))
        for name in ("pyproject.toml", "setup.py")
    ]
    pattern = re.compile(r'"([a-z0-9-]+)(\[\w+\])?>=([0-9.]+)"')
    return {
        match[1]: f"{match[1]}{match[2] or ''}=={match[3]}"
        for file in files
        for match in pattern.finditer(file.read_text("utf8"))
        if match[1] not in ("setuptools", "cython")
    }


def tried(name: str, end: str) -> bool:
    group = GROUPS[name]
    place = ROOT / ".venv" / "ranges" / f"{name}-{end}"
    python = str(place / "bin" / "python")
    lowest = lowest_versions()
    pins = [lowest[one] for one in group.dependencies] if end == "lowest" else []
    print(f"{name}, {end}: {' '.join(pins or group.dependencies)}", flush=True)
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
    quiet = [python, "-m", "pip", "-qq", "--disable-pip-version-check", "install"]
    local = [word for one in group.install for word in ("-e", f"./{one}")]
    pure = {**os.environ, "JSONRILL_PURE": "1"}
    wanted = [*RUNNERS, *group.others, *pins, *local]
    installed = subprocess.run([*quiet, *wanted], cwd=ROOT, env=pure).returncode == 0
    # Deprecations of others, in versions that are not pinned, are not what is tried here.
    words = ["-q", "-W", "default", "--tb=short", *group.tests]
    passed = (
        installed and subprocess.run([python, "-m", "pytest", *words], cwd=ROOT).returncode == 0
    )
    print(f"{name}, {end}: {'passed' if passed else 'FAILED'}, {time.monotonic() - began:.0f} s")
    return passed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="*", choices=[[], *GROUPS])
    for end in ("lowest", "newest"):
        parser.add_argument(f"--{end}", dest="ends", action="append_const", const=end)
    asked = parser.parse_args()
    ends = asked.ends or ("lowest", "newest")
    results = [tried(name, end) for name in asked.groups or GROUPS for end in ends]
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
