"""Counting instructions with valgrind, which does not depend on the load of the machine.

A process that runs under `valgrind --tool=callgrind` can tell it to begin and to stop counting. For
that it executes a sequence of instructions that does nothing elsewhere; here it is written for
x86-64. Where valgrind or that processor is missing, nothing is counted.
"""

from __future__ import annotations

import ctypes
import gc
import json
import mmap
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

# mov rax, rdi; mov rdx, rsi; four rotations of rdi that cancel out; xchg rbx, rbx; mov rax, rdx.
_REQUEST: Final = bytes.fromhex(
    "4889f8 4889f2 48c1c703 48c1c70d 48c1c73d 48c1c733 4887db 4889d0 c3"
)
# Callgrind's own requests.
_BASE: Final = (ord("C") << 24) | (ord("T") << 16)
_ZERO, _DUMP_AS, _START, _STOP = _BASE + 1, _BASE + 3, _BASE + 4, _BASE + 5


def can_count() -> bool:
    """True if instructions can be counted here."""
    return platform.machine() == "x86_64" and shutil.which("valgrind") is not None


def counted(words: Iterable[str], **variables: str) -> dict[str, int]:
    """The instructions of each work, in a new process under valgrind: `python <words>`.

    The process, which has these environment variables, too, calls `count` with its works.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "-q"]
        command += [f"--callgrind-out-file={out}", sys.executable, *words]
        environment = {**os.environ, "PYTHONHASHSEED": "0", **variables}
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        return dict(sorted(row for file in Path(folder).glob("out.*") if (row := _read(file))[0]))


def _read(file: Path) -> tuple[str, int]:
    """The name and the count in a file that callgrind has written."""
    text = file.read_text("utf8", "replace")
    name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
    total = re.search(r"^totals: (\d+)$", text, re.MULTILINE)
    return (json.loads(name[1]) if name else ""), int(total[1]) if total else 0


def count(works: dict[str, Callable[[], object]]) -> None:
    """In a process under valgrind: run each work once to warm up, and once more counted.

    No garbage is collected meanwhile: how often a work would be interrupted, and for how long,
    depends on the works before it.
    """
    request = _client()
    for name, work in works.items():
        work()
        gc.collect()
        gc.disable()
        request(_START)
        request(_ZERO)
        work()
        request(_STOP)
        gc.enable()
        label = ctypes.create_string_buffer(json.dumps(name).encode())
        request(_DUMP_AS, ctypes.addressof(label))


def _client() -> Callable[..., int]:
    page = mmap.mmap(-1, len(_REQUEST), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(_REQUEST)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    kind: Any = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint64)
    call = kind(address)

    def request(number: int, argument: int = 0) -> int:
        words = (ctypes.c_uint64 * 6)(number, argument, 0, 0, 0, 0)
        result: int = call(ctypes.addressof(words), 0)
        # The page must live as long as the function.
        assert page is not None
        return result

    return request
