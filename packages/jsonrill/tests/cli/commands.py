"""The command line: called in this process, or as a process of its own where that matters."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from typing import Any
from unittest import mock

from jsonrill.cli import main

BASE = [sys.executable, "-m", "jsonrill"]
# The child reads the same package as this process, compiled or not.
ENV = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def call(*args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run `jsonrill args` in this process, which is faster than starting an interpreter."""
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out:
        with tempfile.TemporaryFile() as errors:
            source.write(stdin)
            source.seek(0)
            streams: dict[str, Any] = {
                "stdin": io.TextIOWrapper(source, "utf8"),
                "stdout": io.TextIOWrapper(out, "utf8"),
                "stderr": io.TextIOWrapper(errors, "utf8", write_through=True),
            }
            with (
                mock.patch.multiple(sys, argv=["jsonrill", *args], **streams),
                mock.patch.dict(os.environ, COLUMNS="80"),
            ):
                code = _exit_code()
            streams["stdout"].flush()
            written = []
            for file in (out, errors):
                file.seek(0)
                written.append(file.read())
            return subprocess.CompletedProcess(args, code, *written)


def _exit_code() -> int:
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
