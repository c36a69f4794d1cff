"""Events as plain dicts: from JSON text, and from objects of client libraries.

No library is imported. Objects are read by their own `model_dump` or `to_dict`, or by attribute.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

# Fields that grow with every event, or refer to objects far larger than the event.
_OMITTED: Final = frozenset(("snapshot", "agent", "new_agent", "source_agent", "target_agent"))
# The key for the elements of an event that is a list or a tuple.
ITEMS: Final = "items"


def plain(event: Any) -> dict[str, Any] | None:
    """Return the event as a dict; None if the object cannot be an event.

    Takes dicts, JSON text and objects of client libraries, and unwraps the events that some of them
    wrap in an object with `data`. A list or tuple becomes a dict with `items`.
    """
    if type(event) is not dict:
        # Objects of other libraries may raise anything; reading an event never does.
        try:
            is_text = isinstance(event, (str, bytes))
            event = json.loads(event) if is_text else as_data(event)
        except Exception:
            return None
        if isinstance(event, list):
            return {ITEMS: event}
        if not isinstance(event, dict):
            return None
    data = event.get("data")
    if isinstance(data, dict) and not isinstance(event.get("type"), str) and "run_id" not in event:
        return data
    return event


def as_data(value: Any) -> Any:
    """Return the content of an object as dicts and lists."""
    if value is None or isinstance(value, (str, bytes, int, float)):
        return value
    if isinstance(value, Mapping):
        return {key: as_data(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_data(item) for item in value]
    if isinstance(value, type):
        return None
    if hasattr(value, "model_dump"):
        return _from_model(value)
    if callable(value):
        return None
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if not (is_dataclass(value) or hasattr(value, "__dict__")):
        return str(value)  # a date, for instance
    names = [field.name for field in fields(value)] if is_dataclass(value) else [*vars(value)]
    names = [name for name in names if name not in _OMITTED and not name.startswith("_")]
    return {name: as_data(getattr(value, name)) for name in names}


def _from_model(model: Any) -> Any:
    """Return the content of a pydantic model, which nearly all client libraries use."""
    kind = getattr(model, "type", None)
    if kind == "chunk" and hasattr(model, "chunk"):
        # A helper of the library wraps the chunk together with a growing snapshot.
        model, kind = model.chunk, None
    data: Any = getattr(model, "__dict__", {}).get("data")
    if getattr(data, "is_unknown", False) is True:
        # Mistral's library keeps an event that it does not know as it came.
        return data.raw
    # Copying the snapshot with each event would take quadratic time. Fields that were not sent are
    # left out, because the provider did not send their defaults; but not the type.
    dump = model.model_dump(by_alias=True, exclude_unset=True, exclude={"snapshot"}, warnings=False)
    if isinstance(dump, dict) and isinstance(kind, str):
        dump.setdefault("type", kind)
    return dump
