"""Events as plain dicts: from JSON text, and from the objects that client libraries yield.

No library is imported. Their objects are read by what they share, such as `model_dump`, and by the
names of their fields.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any, Final

# How many values an event may have.
_MOST: Final = 100_000
# Fields that grow with every event, or lead to far more than the event says.
_LEFT_OUT: Final = frozenset(("snapshot", "agent", "new_agent", "source_agent", "target_agent"))
# The objects of these packages have no `type`; the name of the class takes its place.
_NAMED_BY_CLASS: Final = ("claude_agent_sdk", "llama_index")
# The types of values that stay as they are.
_SCALARS: Final = frozenset((str, int, float, bool, bytes))
# What may be in a model's configuration or in the metadata of a field and changes what is written.
_CHANGING: Final = frozenset(("json_encoders", "use_enum_values", "ser_json_bytes"))
_HOOK: Final = "__get_pydantic_core_schema__"
# In a dict: the elements of an event that is a list or a tuple.
ITEMS: Final = "items"


def plain(event: Any) -> dict[str, Any] | None:
    """The event as a dict; None for what cannot be one.

    Takes dicts, JSON text and objects of client libraries, and unwraps the events that some of them
    wrap in an object with `data`. A list or tuple becomes a dict with `items`.
    """
    if type(event) is not dict:
        # Objects of other libraries may raise anything; an event that cannot be read never does.
        try:
            text = isinstance(event, (str, bytes))
            event = json.loads(event) if text else as_data(event)
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


def as_data(value: Any, budget: list[int] | None = None) -> Any:
    """The content of an object, as dicts and lists; `ValueError` if it has too many values."""
    budget = [_MOST] if budget is None else budget
    budget[0] -= 1
    if budget[0] < 0:
        raise ValueError("not an event")
    if value is None or isinstance(value, (str, bytes, int, float)):
        return value
    if isinstance(value, Mapping):
        return {key: as_data(item, budget) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_data(item, budget) for item in value]
    if isinstance(value, type) or callable(value) and not hasattr(value, "model_dump"):
        return None
    if callable(getattr(value, "model_dump", None)):
        return _from_model(value)
    if callable(getattr(value, "to_dict", None)):
        return value.to_dict()
    if is_dataclass(value):
        names = [field.name for field in fields(value)]
    elif hasattr(value, "__dict__"):
        names = [*vars(value)]
    else:
        return str(value)  # a date, for instance
    read = {
        name: as_data(getattr(value, name), budget)
        for name in names
        if name not in _LEFT_OUT and not name.startswith("_")
    }
    return _with_type(read, value)


def _from_model(event: Any) -> Any:
    """The content of a pydantic model, which nearly all client libraries use."""
    kind = getattr(event, "type", None)
    if kind == "chunk" and hasattr(event, "chunk"):
        # A helper of the library wraps the chunk together with a growing snapshot.
        event = event.chunk
    left_out = {"snapshot"}
    raw = getattr(event, "raw", None)
    if raw is not None and hasattr(event, "delta"):
        left_out |= {"raw", "message", "response", "text"}
    # Copying the snapshot with each event would take quadratic time. Fields that were not sent are
    # left out, because the provider did not say their defaults; but not the type.
    try:
        dump = _read_model(event, left_out)
    except _OwnWay:
        dump = event.model_dump(by_alias=True, exclude_unset=True, exclude=left_out, warnings=False)
    if not isinstance(dump, dict):
        return dump
    if "raw" in left_out:
        dump["raw"] = as_data(raw)
    if isinstance(kind, str) and kind != "chunk":
        dump.setdefault("type", kind)
    return _with_type(dump, event)


class _OwnWay(Exception):
    """A model, or something in it, writes itself in its own way: `model_dump` knows how."""


@lru_cache(maxsize=512)
def _names_in(kind: type) -> dict[str, str] | None:
    """The fields of a class of models, and their names in an event; None if it writes itself."""
    # Any: of pydantic 2, which is not imported here.
    made: Any = kind
    own = getattr(made, "__pydantic_decorators__", None)
    fields = getattr(made, "__pydantic_fields__", None)
    if own is None or not isinstance(fields, dict):
        return None
    if own.field_serializers or own.model_serializers or own.computed_fields:
        return None
    if getattr(made.model_dump, "__module__", None) != "pydantic.main" or issubclass(made, Mapping):
        return None
    if getattr(made, "__pydantic_root_model__", False) or _CHANGING & made.model_config.keys():
        return None
    names = {}
    for name, info in fields.items():
        if info.exclude or any(hasattr(one, _HOOK) for one in info.metadata):
            return None
        names[name] = info.serialization_alias or info.alias or name
    return names


def _read_model(model: Any, left_out: Collection[str]) -> dict[str, Any]:
    """What `model_dump` returns with these fields left out, read from the fields themselves.

    That is a third of the work: nearly all events have strings, numbers and other models.
    """
    kind: Any = type(model)
    names = _names_in(kind)
    if names is None:
        raise _OwnWay
    read: dict[str, Any] = {}
    sent = model.__pydantic_fields_set__
    for name, value in model.__dict__.items():
        if name in sent and name not in left_out:
            if value is not None and type(value) not in _SCALARS:
                value = _read_value(value)
            read[names[name]] = value
    if extra := model.__pydantic_extra__:
        for name, value in extra.items():
            if name not in left_out:
                read[name] = _read_value(value)
    return read


def _read_value(value: Any) -> Any:
    kind = type(value)
    if value is None or kind in _SCALARS:
        return value
    if kind is list:
        return [_read_value(item) for item in value]
    if kind is dict:
        return {key: _read_value(item) for key, item in value.items()}
    if hasattr(value, "model_dump"):
        return _read_model(value, ())
    raise _OwnWay


def _with_type(read: dict[str, Any], value: Any) -> dict[str, Any]:
    """The content, with the name of the class where that alone says what it is."""
    if type(value).__module__.startswith(_NAMED_BY_CLASS):
        read.setdefault("type", type(value).__name__)
    return read
