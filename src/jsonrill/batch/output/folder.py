"""The folder that a run writes to. A file in it is whole, or it is not there.

Here: written under another name, synced, renamed. On other file systems (`s3://...`): written to a
local file first and sent when it is whole, which those make visible at once. No one else touches
the names in it, so this file alone knows them.
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Final

from ..errors import BatchError, InputError, OutputError
from ..files import is_remote, remote

MANIFEST: Final = "manifest.json"
DONE: Final = "done"
QUARANTINE: Final = "quarantine"
TEMPORARY: Final = "tmp"
LOCK: Final = "lock"
# What a run that was killed before its manifest was written may leave.
_LEFT: Final = {TEMPORARY, LOCK}


def folder_at(path: str) -> Folder:
    """The folder of that path or address."""
    return Remote(path) if is_remote(path) else Folder(path)


class Folder:
    """A folder on this machine, or one that is mounted."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)

    def prepare(self) -> None:
        """Make it, and see that it can be written to, before any work is done."""
        self.write(f"{TEMPORARY}/try", b"")

    def is_free(self) -> bool:
        """Is it new, or empty but for what a killed run left?"""
        try:
            found = set(os.listdir(self.path))
        except FileNotFoundError:
            return True
        except OSError as error:
            raise OutputError(f"{self.path}: {error.strerror or error}") from error
        # The lock comes first: a tmp without one is somebody's own.
        return not found or (LOCK in found and found <= _LEFT)

    def clean(self) -> None:
        """Remove what was not finished."""
        shutil.rmtree(os.path.join(self.path, TEMPORARY), ignore_errors=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One run at a time. The lock is the kernel's: it ends with the process."""
        try:
            import fcntl
        except ModuleNotFoundError:
            yield
            return
        with self._writing(self.path):
            os.makedirs(self.path, exist_ok=True)
            file = open(os.path.join(self.path, LOCK), "a")
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BatchError(f"another run is writing to {self.path}") from None
            except OSError:
                pass  # a file system without locks
            yield

    def read(self, name: str) -> bytes | None:
        """A whole file, None if there is none."""
        try:
            with open(os.path.join(self.path, name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(f"{self.path}/{name}: {error.strerror or error}") from error

    def lines(self, name: str) -> Iterator[bytes]:
        """The lines of a file, none if there is no such file."""
        if self.size(name) is not None:
            with self._opened(name) as file:
                yield from file

    def _opened(self, name: str) -> IO[bytes]:
        return open(os.path.join(self.path, name), "rb")

    def size(self, name: str) -> int | None:
        """Bytes in a file, None if there is none."""
        try:
            return os.stat(os.path.join(self.path, name)).st_size
        except OSError:
            return None

    def names(self, below: str) -> list[str]:
        """The names in a folder of this one."""
        try:
            return sorted(os.listdir(os.path.join(self.path, below)))
        except FileNotFoundError:
            return []

    def write(self, name: str, data: bytes) -> None:
        """A whole small file."""
        with self.create(name) as file:
            file.write(data)

    @contextmanager
    def create(self, name: str) -> Iterator[IO[bytes]]:
        """A file that is there when the block has ended, and not at all if it failed."""
        target = os.path.join(self.path, name)
        temporary = os.path.join(self.path, TEMPORARY, _own(name))
        try:
            with self._writing(target):
                for place in (temporary, target):
                    os.makedirs(os.path.dirname(place), exist_ok=True)
                with open(temporary, "wb", buffering=1 << 18) as file:
                    yield file
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(temporary, target)
                _sync(os.path.dirname(target))
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise

    def remove(self, name: str) -> None:
        with suppress(OSError):
            os.unlink(os.path.join(self.path, name))

    @contextmanager
    def _writing(self, path: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OutputError(f"{path}: {error.strerror or error}") from error


class Remote(Folder):
    """A folder on a file system that fsspec knows."""

    def __init__(self, path: str) -> None:
        self.path = path.rstrip("/")
        self._store = remote(path)

    def prepare(self) -> None:
        """That it can be written to is seen when the manifest is."""

    def is_free(self) -> bool:
        try:
            return not self._store.exists(self.path) or not self._store.ls(self.path)
        except Exception as error:  # each driver has errors of its own
            raise OutputError(f"{self.path}: {type(error).__name__}: {error}") from error

    def clean(self) -> None:
        """What is not finished is with those who make it."""

    @contextmanager
    def locked(self) -> Iterator[None]:
        """There is no lock: results are the same whoever writes them."""
        yield

    def read(self, name: str) -> bytes | None:
        try:
            return bytes(self._store.cat_file(f"{self.path}/{name}"))
        except FileNotFoundError:
            return None

    def size(self, name: str) -> int | None:
        try:
            return int(self._store.size(f"{self.path}/{name}"))
        except FileNotFoundError:
            return None

    def _opened(self, name: str) -> IO[bytes]:
        found: IO[bytes] = self._store.open(f"{self.path}/{name}", "rb")
        return found

    def names(self, below: str) -> list[str]:
        try:
            found = self._store.ls(f"{self.path}/{below}", detail=False, refresh=True)
        except FileNotFoundError:
            return []
        return sorted(str(name).rsplit("/", 1)[-1] for name in found)

    @contextmanager
    def create(self, name: str) -> Iterator[IO[bytes]]:
        with self._writing(f"{self.path}/{name}"), tempfile.TemporaryDirectory() as place:
            temporary = os.path.join(place, "whole")
            with open(temporary, "wb", buffering=1 << 18) as file:
                yield file
            target = f"{self.path}/{name}"
            self._store.makedirs(target.rpartition("/")[0], exist_ok=True)
            self._store.put_file(temporary, target)

    def remove(self, name: str) -> None:
        with suppress(FileNotFoundError):
            self._store.rm_file(f"{self.path}/{name}")


def _own(name: str) -> str:
    """A name that nobody else writes to, here or on another machine."""
    return f"{name.replace('/', '-')}.{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"


def _sync(folder: str) -> None:
    """A rename is lasting when its folder is."""
    with suppress(OSError):
        place = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)
