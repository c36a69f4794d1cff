"""What options mean: names, files and sizes as they are typed, for the library."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer


def made(make: Callable[[], Any]) -> Any:
    """An object made from options; one that it refuses is bad usage."""
    try:
        return make()
    except (TypeError, ValueError) as error:
        raise typer.BadParameter(str(error)) from error
    except ImportError as error:
        typer.echo(f"jsonrill: {error}", err=True)
        raise typer.Exit(1) from None


def rules_of(repair: bool, rules: str | None) -> bool | set[str]:
    return repair if rules is None else {name.strip() for name in rules.split(",")}


def entities_of(names: list[str] | None) -> Any:
    if not names:
        return None
    if any("=" in name for name in names):
        pairs = [name.partition("=") for name in names]
        return {name: pattern or name for name, _, pattern in pairs}
    return names[0] if len(names) == 1 else names


def tool_schemas_of(schemas: list[str] | None) -> dict[str, Any] | None:
    if not schemas:
        return None
    pairs = [schema.partition("=") for schema in schemas]
    if not all(name and path for name, _, path in pairs):
        raise ValueError("--schema is TOOL=FILE")
    return {name: json_file(Path(path)) for name, _, path in pairs}


def json_file(path: Path | None) -> Any:
    if path is None:
        return None
    try:
        return json.loads(path.read_text("utf8"))
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def bytes_of(size: str | None) -> int | None:
    """A size like 64MB or 1.5GiB."""
    if size is None:
        return None
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?", size.strip().lower())
    if found is None:
        raise typer.BadParameter(f"a size is a number with perhaps kB, MB or GB, not {size!r}")
    count, unit, binary = found.groups()
    return int(float(count) * (1024 if binary else 1000) ** " kmgt".index(unit or " "))
