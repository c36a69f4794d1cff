"""The libraries of the extras, imported when a schema needs one: there, and new enough."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, Final, NamedTuple


class Library(NamedTuple):
    """What brings a module: its distribution, the lowest version that is tested, and the extra."""

    distribution: str
    lowest: tuple[int, int]
    extra: str
    user: str


LIBRARIES: Final = {
    "pydantic": Library("pydantic", (2, 10), "pydantic", "a pydantic type"),
    "jsonschema_rs": Library("jsonschema-rs", (0, 51), "jsonschema", "a JSON Schema"),
}


def library(module: str) -> Any:
    """The module; `ImportError` says what is missing or too old."""
    name, lowest, extra, user = LIBRARIES[module]
    try:
        imported = import_module(module)
    except ImportError as error:
        raise ImportError(f"{user} needs {name}: install jsonrill[{extra}]") from error
    version = _version(name)
    if version and tuple(map(int, version.split(".")[:2])) < lowest:
        at_least = ".".join(map(str, lowest))
        raise ImportError(
            f"{user} needs {name} {at_least} or newer, and {version} is installed: "
            f"install jsonrill[{extra}]"
        )
    return imported


@cache
def _version(distribution: str) -> str:
    """The version that is installed; empty for a copy that has no metadata."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""
