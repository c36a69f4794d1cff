"""Pydantic models, as client libraries yield them → dicts, without `model_dump`.

For the small models of events that takes a third of the time: their fields are strings, numbers and
other models, which only have to be put into dicts. pydantic is not imported.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any, Final

# The types of values that stay as they are.
_SCALARS: Final = frozenset((str, int, float, bool, bytes))
# What may be in a model's configuration or in the metadata of a field and changes what is written.
_CHANGING: Final = frozenset(("json_encoders", "use_enum_values", "ser_json_bytes"))
_HOOK: Final = "__get_pydantic_core_schema__"
# How deep a model may be nested; no event of a provider is.
_DEEPEST: Final = 100


class OwnWay(Exception):
    """A model, or something in it, writes itself in its own way: `model_dump` knows how."""


@lru_cache(maxsize=512)
def _names_in(kind: type) -> dict[str, str] | None:
    """The fields of a class of models, and their names in an event; None if it writes itself."""
    # Any: of pydantic 2, which is not imported here.
    model: Any = kind
    own = getattr(model, "__pydantic_decorators__", None)
    fields = getattr(model, "__pydantic_fields__", None)
    if own is None or not isinstance(fields, dict):
        return None
    if own.field_serializers or own.model_serializers or own.computed_fields:
        return None
    if getattr(model.model_dump, "__module__", None) != "pydantic.main" or issubclass(
        model, Mapping
    ):
        return None
    if getattr(model, "__pydantic_root_model__", False) or _CHANGING & model.model_config.keys():
        return None
    names = {}
    for name, info in fields.items():
        if info.exclude or any(hasattr(one, _HOOK) for one in info.metadata):
            return None
        names[name] = info.serialization_alias or info.alias or name
    return names


@lru_cache(maxsize=1024)
def _has(kind: type, name: str) -> bool:
    return hasattr(kind, name)


def field_of(model: Any, name: str) -> Any:
    """The field or property of this name; None if there is none, which models are slow to say."""
    fields = getattr(model, "__dict__", None)
    if fields is not None and name in fields:
        return fields[name]
    kind: Any = type(model)
    if hasattr(model, "__pydantic_extra__") and not _has(kind, name):
        return (model.__pydantic_extra__ or {}).get(name)
    return getattr(model, name, None)


def read_model(model: Any, left_out: Collection[str], depth: int = 0) -> dict[str, Any]:
    """What `model_dump` returns with these fields left out, read from the fields themselves.

    Raises `OwnWay` where that cannot be said, such as for what is nested too deeply.
    """
    kind: Any = type(model)
    names = _names_in(kind)
    if names is None:
        raise OwnWay
    read: dict[str, Any] = {}
    sent = model.__pydantic_fields_set__
    fields = model.__dict__
    for name, value in fields.items():
        if name in sent and not (left_out and name in left_out):
            if value is not None and type(value) not in _SCALARS:
                value = _read_value(value, depth)
            read[names[name]] = value
    if extra := model.__pydantic_extra__:
        for name, value in extra.items():
            if name not in left_out:
                read[name] = _read_value(value, depth)
    return read


def _read_value(value: Any, depth: int) -> Any:
    kind = type(value)
    if value is None or kind in _SCALARS:
        return value
    if depth == _DEEPEST:  # compiled code is not stopped by Python's own limit
        raise OwnWay
    depth += 1
    if kind is list:
        return [_read_value(item, depth) for item in value]
    if kind is dict:
        return {key: _read_value(item, depth) for key, item in value.items()}
    return read_model(value, (), depth)
