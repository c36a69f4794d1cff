"""The folder that a run writes to. A file in it is complete, or it does not exist.

A local file is written under another name, synced and renamed. A file on another file system
(`s3://...`) is written to a local file first and uploaded when it is complete; it becomes visible
at once.
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
# Nothing but the files with the rows: tools that read a folder as one table read this one.
PARTS: Final = "rows"
TEMPORARY: Final = "tmp"
LOCK: Final = "lock"
# All that a run can leave if it is killed before its manifest is written.
_LEFT: Final = {TEMPORARY, LOCK}


def folder_at(path: str) -> Folder:
    """The folder at a path or URL."""
    return Remote(path) if is_remote(path) else Folder(path)


class Folder:
    """A folder that the operating system can open."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)

    def prepare(self) -> None:
        """Create the folder; `OutputError` before any work is done if it cannot be written to."""
        self.write(f"{TEMPORARY}/try", b"")

    def is_free(self) -> bool:
        """True if the folder is missing, empty, or left by a run that never started."""
        try:
            names = set(os.listdir(self.path))
        except FileNotFoundError:
            return True
        except OSError as error:
            raise OutputError(f"{self.path}: {error.strerror or error}") from error
        # A run creates its lock first: a tmp/ without one is not ours.
        return not names or (LOCK in names and names <= _LEFT)

    def clean(self) -> None:
        """Remove files that were not completed."""
        shutil.rmtree(os.path.join(self.path, TEMPORARY), ignore_errors=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Allow one run at a time; the kernel releases the lock when the process ends."""
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
        """The content of a file; None if it does not exist."""
        try:
            with self._opened(name) as file:
                return file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(f"{self.path}/{name}: {error.strerror or error}") from error

    def lines(self, name: str) -> Iterator[bytes]:
        """The lines of a file; none if it does not exist."""
        if self.size(name) is not None:
            with self._opened(name) as file:
                yield from file

    def _opened(self, name: str) -> IO[bytes]:
        return open(os.path.join(self.path, name), "rb")

    def size(self, name: str) -> int | None:
        """The size of a file; None if it does not exist."""
        try:
            return os.stat(os.path.join(self.path, name)).st_size
        except OSError:
            return None

    def names(self, below: str) -> list[str]:
        """The names of the files in a subfolder."""
        try:
            return sorted(os.listdir(os.path.join(self.path, below)))
        except FileNotFoundError:
            return []

    def write(self, name: str, data: bytes) -> None:
        """Write a small file."""
        with self.create(name) as file:
            file.write(data)

    @contextmanager
    def create(self, name: str) -> Iterator[IO[bytes]]:
        """A new file, which exists once the block ends, and never if it fails."""
        target = os.path.join(self.path, name)
        temporary = os.path.join(self.path, TEMPORARY, _unique(name))
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
    """A folder on a file system of fsspec."""

    def __init__(self, path: str) -> None:
        self.path = path.rstrip("/")
        self._store = remote(path)

    def prepare(self) -> None:
        """Do nothing: writing the manifest will show whether it can be written to."""

    def is_free(self) -> bool:
        try:
            return not self._store.exists(self.path) or not self._store.ls(self.path)
        except Exception as error:  # each driver has errors of its own
            raise OutputError(f"{self.path}: {type(error).__name__}: {error}") from error

    def clean(self) -> None:
        """Do nothing: incomplete files are on the machines that write them."""

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Do nothing: there is no lock, and two runs would write the same results."""
        yield

    def size(self, name: str) -> int | None:
        try:
            return int(self._store.size(f"{self.path}/{name}"))
        except FileNotFoundError:
            return None

    def _opened(self, name: str) -> IO[bytes]:
        file: IO[bytes] = self._store.open(f"{self.path}/{name}", "rb")
        return file

    def names(self, below: str) -> list[str]:
        try:
            places = self._store.ls(f"{self.path}/{below}", detail=False, refresh=True)
        except FileNotFoundError:
            return []
        return sorted(str(name).rsplit("/", 1)[-1] for name in places)

    @contextmanager
    def create(self, name: str) -> Iterator[IO[bytes]]:
        with self._writing(f"{self.path}/{name}"), tempfile.TemporaryDirectory() as place:
            temporary = os.path.join(place, "file")
            with open(temporary, "wb", buffering=1 << 18) as file:
                yield file
            target = f"{self.path}/{name}"
            self._store.makedirs(target.rpartition("/")[0], exist_ok=True)
            self._store.put_file(temporary, target)

    def remove(self, name: str) -> None:
        with suppress(FileNotFoundError):
            self._store.rm_file(f"{self.path}/{name}")


def _unique(name: str) -> str:
    """A file name that no other process uses, on this or another machine."""
    return f"{name.replace('/', '-')}.{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"


def _sync(folder: str) -> None:
    """Sync a folder: only then does a rename survive a crash."""
    with suppress(OSError):
        place = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)
