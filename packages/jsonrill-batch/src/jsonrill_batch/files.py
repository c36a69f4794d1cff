"""Local files and files of other file systems (fsspec): their versions."""

from __future__ import annotations

import os
from typing import Any

from .errors import InputError


def is_remote(path: str) -> bool:
    """True for a URL such as s3://bucket/key."""
    return "://" in path


def version_of(stat: os.stat_result) -> str:
    """A text that changes when a local file changes."""
    return f"{stat.st_size}-{stat.st_mtime_ns}"


def remote(path: str) -> Any:
    """The fsspec file system of a URL."""
    try:
        import fsspec
    except ModuleNotFoundError as missing:
        raise InputError(
            f"{path} needs an extra: pip install 'jsonrill[batch]' (and the driver of that storage)"
        ) from missing
    try:
        return fsspec.core.url_to_fs(path)[0]
    except (ValueError, ImportError) as error:
        raise InputError(f"{path}: {error}") from error


def remote_version(store: Any, path: str) -> str:
    """A text that changes when a file of that file system changes."""
    return str(store.ukey(path))
