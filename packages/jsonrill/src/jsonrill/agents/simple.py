"""Simple annotations: what JSON Schema they are, and how a value is checked, without pydantic.

`str int float bool None Any`, `list` and `dict` of them, `Literal`, unions, and `TypedDict`s and
dataclasses with such fields. For anything else `simple` returns None.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping, Sequence
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)


@dataclasses.dataclass(frozen=True, slots=True)
class Reads:
    """Reads a value of one annotation; called, it returns the value, or raises `TypeError`."""

    schema: dict[str, Any]
    read: Callable[[Any, str], Any]

    def __call__(self, value: Any, name: str) -> Any:
        return self.read(value, name)


_PLAIN: Final[dict[Any, tuple[str, tuple[type, ...]]]] = {
    str: ("string", (str,)),
    bool: ("boolean", (bool,)),
    int: ("integer", (int,)),
    float: ("number", (int, float)),
    None: ("null", (type(None),)),
    type(None): ("null", (type(None),)),
    list: ("array", (list,)),
    dict: ("object", (dict,)),
}


def simple(hint: Any) -> Reads | None:
    """What reads values of this annotation; None if it is not a simple one."""
    try:
        return _reads(hint)
    except (LookupError, RecursionError):
        return None


def _reads(hint: Any) -> Reads:
    """As `simple`, but `LookupError` for what is not simple."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any or hint is object:
        return Reads({}, lambda value, name: value)
    if isinstance(hint, type | None) and hint in _PLAIN:
        return _plain(hint)
    if origin in (list, Sequence):
        return _array(_reads(inner[0]))
    if origin in (dict, Mapping) and inner[0] is str:
        return _mapping(_reads(inner[1]))
    if origin is Literal and all(type(it) in (str, int, bool, type(None)) for it in inner):
        return _literal(inner)
    if origin in (Union, types.UnionType):
        return _union([_reads(it) for it in inner])
    if origin is Annotated and all(isinstance(it, str) for it in inner[1:]):
        reads = _reads(inner[0])
        return Reads({**reads.schema, "description": " ".join(inner[1:])}, reads.read)
    if is_typeddict(hint):
        return _typed_dict(hint)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _dataclass(hint)
    raise LookupError(hint)


def _plain(hint: Any) -> Reads:
    name, classes = _PLAIN[hint]

    def read(value: Any, where: str) -> Any:
        if hint is int and type(value) is float and value.is_integer():
            return int(value)
        if type(value) not in classes:
            raise misfit(where, name, value)
        return value

    return Reads({"type": name}, read)


def _array(item: Reads) -> Reads:
    def read(value: Any, where: str) -> Any:
        if type(value) is not list:
            raise misfit(where, "array", value)
        return [item(one, f"{where}[{at}]") for at, one in enumerate(value)]

    return Reads({"type": "array", "items": item.schema}, read)


def _mapping(item: Reads) -> Reads:
    def read(value: Any, where: str) -> Any:
        if type(value) is not dict:
            raise misfit(where, "object", value)
        return {key: item(one, f"{where}.{key}") for key, one in value.items()}

    return Reads({"type": "object", "additionalProperties": item.schema}, read)


def _literal(values: tuple[Any, ...]) -> Reads:
    def read(value: Any, where: str) -> Any:
        if not any(type(it) is type(value) and it == value for it in values):
            raise TypeError(f"{where} is one of {', '.join(map(repr, values))}, not {value!r}")
        return value

    return Reads({"enum": list(values)}, read)


def _union(choices: list[Reads]) -> Reads:
    def read(value: Any, where: str) -> Any:
        problems: list[str] = []
        for choice in choices:
            try:
                return choice(value, where)
            except TypeError as error:
                problems.append(str(error))
        raise TypeError("; or ".join(problems))

    return Reads({"anyOf": [it.schema for it in choices]}, read)


def _typed_dict(hint: Any) -> Reads:
    fields = get_type_hints(hint, include_extras=True)
    reads = {
        name: _reads(get_args(it)[0] if get_origin(it) in (Required, NotRequired) else it)
        for name, it in fields.items()
    }
    # Annotations that are texts do not tell the class itself which of its keys are required.
    marks = {name: get_origin(it) for name, it in fields.items()}
    wanted = [
        name
        for name, mark in marks.items()
        if mark is Required or (mark is not NotRequired and name in hint.__required_keys__)
    ]
    return _object(reads, wanted, dict)


def _dataclass(hint: Any) -> Reads:
    fields = [it for it in dataclasses.fields(hint) if it.init]
    hints = get_type_hints(hint, include_extras=True)
    missing = dataclasses.MISSING
    wanted = [it.name for it in fields if it.default is missing is it.default_factory]
    return _object({it.name: _reads(hints[it.name]) for it in fields}, wanted, hint)


def _object(reads: dict[str, Reads], wanted: list[str], make: Callable[..., Any]) -> Reads:
    def read(value: Any, where: str) -> Any:
        if type(value) is not dict:
            raise misfit(where, "object", value)
        for name in wanted:
            if name not in value:
                raise TypeError(f"{where} has no {name!r}")
        for name in value:
            if name not in reads:
                raise TypeError(f"{where} has {name!r}, which is not one of its fields")
        return make(**{name: reads[name](one, f"{where}.{name}") for name, one in value.items()})

    return Reads(object_schema(reads, wanted), read)


def object_schema(
    reads: Mapping[str, Reads], wanted: Sequence[str], *, more: bool = False
) -> dict[str, Any]:
    """The JSON Schema of an object with these fields."""
    return {
        "type": "object",
        "properties": {name: it.schema for name, it in reads.items()},
        "required": list(wanted),
        "additionalProperties": more,
    }


def misfit(where: str, name: str, value: Any) -> TypeError:
    """The error of a value that is of another type."""
    shown = repr(value)
    return TypeError(
        f"{where} is of the type {name}, not {shown if len(shown) < 80 else type(value).__name__}"
    )
