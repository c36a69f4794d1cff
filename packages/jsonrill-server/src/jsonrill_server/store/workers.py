"""Notices that several processes answer on one port, each of which would have a memory of its own.

A server that is told to start several workers makes a socket and lets processes of its own listen
on it. Nothing tells them of each other, so they leave a mark: a file with the parent's number and
the address in its name, which one process at a time can lock. The system unlocks it when that
process ends, however that is.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from .base import StoreError

# Seconds for which a worker waits for the one that it replaces, which was told to end.
REPLACED: Final = 3.0


class Mark:
    """The lock of one process on one file; all stores of the process share it."""

    _held: dict[tuple[int, Path], Mark] = {}

    def __init__(self, path: Path, file: int) -> None:
        self._path = path
        self._file = file
        self._users = 1

    @classmethod
    def take(cls, path: Path) -> Mark | None:
        """Return the mark; None if another process has it."""
        import fcntl

        if (mine := cls._held.get((os.getpid(), path))) is not None:
            mine._users += 1
            return mine
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_current = os.path.samestat(os.fstat(file), os.stat(path))
        except OSError:
            is_current = False
        if not is_current:  # or its holder has removed it meanwhile
            os.close(file)
            return None
        mark = cls._held[os.getpid(), path] = cls(path, file)
        return mark

    def release(self) -> None:
        self._users -= 1
        if self._users == 0:
            del self._held[os.getpid(), self._path]
            self._path.unlink(missing_ok=True)
            os.close(self._file)


async def only_worker() -> list[Mark]:
    """Mark this process as the one that answers on its ports; StoreError if there is another one.

    Nothing is marked where it has no port yet, or the system cannot say.
    """
    marks: list[Mark] = []
    until = time.monotonic() + REPLACED
    try:
        for path in _paths():
            while (mark := Mark.take(path)) is None:
                if time.monotonic() > until:
                    for taken in marks:
                        taken.release()
                    raise StoreError("several workers need a store that they share, not memory:")
                await asyncio.sleep(0.1)
            marks.append(mark)
    except (OSError, ImportError):  # no folder for it, or Windows
        pass
    return marks


def _paths() -> list[Path]:
    """A file for each address that this process listens on, or will."""
    folder, whose = Path(tempfile.gettempdir()), f"{os.getuid()} {os.getppid()}"
    names = [hashlib.sha256(f"{whose} {it}".encode()).hexdigest()[:24] for it in _addresses()]
    return [folder / f"jsonrill-{name}.lock" for name in names]


def _addresses() -> list[str]:
    """What this process has bound and not connected: uvicorn's workers begin to listen late."""
    addresses = set()
    for name in os.listdir("/dev/fd"):
        with suppress(OSError):  # closed by now
            if not stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                continue
            with socket.socket(fileno=os.dup(int(name))) as one:
                address = one.getsockname()
                is_bound = bool(address[1] if isinstance(address, tuple) else address)
                if one.type == socket.SOCK_STREAM and is_bound and not _is_connected(one):
                    addresses.add(repr(address))
    return sorted(addresses)


def _is_connected(one: socket.socket) -> bool:
    try:
        one.getpeername()
    except OSError:
        return False
    return True
