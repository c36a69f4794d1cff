"""Files here and on other file systems: which is which, and whether one has changed."""

from __future__ import annotations

import os
from typing import Any

from .errors import InputError


def is_remote(path: str) -> bool:
    return "://" in path


def version_of(stat: os.stat_result) -> str:
    """What changes when a local file does."""
    return f"{stat.st_size}-{stat.st_mtime_ns}"


def remote(path: str) -> Any:
    """The file system of a path like s3://..."""
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
    """What changes when a file of that file system does."""
    return str(store.ukey(path))
