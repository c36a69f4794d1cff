"""What a schema still asks for, of a value that was cut off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..paths import Path


def schema_of(source: Any) -> dict[str, Any] | None:
    """The JSON Schema of what `values` takes as a schema; None if there is none."""
    if source is None or isinstance(source, bool):
        return None
    if isinstance(source, Mapping):
        return {**source}
    if hasattr(source, "model_json_schema"):
        schema: dict[str, Any] = source.model_json_schema()
        return schema
    from pydantic import TypeAdapter

    adapter: Any = source if isinstance(source, TypeAdapter) else TypeAdapter(source)
    of_type: dict[str, Any] = adapter.json_schema()
    return of_type


def missing_schema(schema: dict[str, Any], complete: list[str]) -> dict[str, Any]:
    """The schema without the members of the root that are complete."""
    root = _resolved(schema, schema)
    properties = root.get("properties")
    if not isinstance(properties, Mapping):
        return schema
    rest = {key: value for key, value in properties.items() if key not in complete}
    required = [key for key in root.get("required", []) if key not in complete]
    shared: dict[str, Any] = {
        key: it for key, it in schema.items() if key in ("$schema", "$defs", "definitions")
    }
    return {**shared, **root, "properties": rest, "required": required}


def missing_paths(schema: dict[str, Any] | None, value: Any, open_path: Path | None) -> list[Path]:
    """The members that are required in the open containers and have not come, or are open."""
    if schema is None or (open_path is None and value is not None):
        return []
    missing: list[Path] = []
    node, path = schema, open_path or ()
    for depth in range(len(path) + 1):
        node = _resolved(node, schema)
        step = path[depth] if depth < len(path) else None
        if isinstance(value, dict) or value is None:
            required = node.get("required", [])
            known = value or {}
            missing += [(*path[:depth], key) for key in required if key not in known or key == step]
        if step is None:
            break
        value = value[step]
        node = _below(node, step)
    # An open container is told by what it lacks.
    inner = [one for one in missing if len(one) > 1]
    return [one for one in missing if not any(it[: len(one)] == one for it in inner if it != one)]


def _below(node: dict[str, Any], step: str | int) -> dict[str, Any]:
    if isinstance(step, str):
        below = node.get("properties", {}).get(step, node.get("additionalProperties"))
    else:
        listed = node.get("prefixItems", [])
        below = listed[step] if step < len(listed) else node.get("items")
    return below if isinstance(below, dict) else {}


def _resolved(node: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """The node that a reference leads to, or the only alternative beside null."""
    for _ in range(32):
        choices = [it for it in node.get("anyOf", []) if it != {"type": "null"}]
        if len(choices) == 1:
            node = choices[0]
        ref = node.get("$ref")
        if not isinstance(ref, str) or not ref.startswith("#/"):
            break
        target: Any = root
        for part in ref[2:].split("/"):
            target = target.get(part.replace("~1", "/").replace("~0", "~"), {})
        node = target if isinstance(target, dict) else {}
    return node
