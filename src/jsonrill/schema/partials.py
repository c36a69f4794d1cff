"""Instances of classes of which only a part is known: `Partial[Trip]`.

A partial instance is one of a subclass, made for each class when it is first needed, without
running any code of the class: no `__init__`, no validator, no `__init_subclass__`.
"""

from __future__ import annotations

import json
from abc import ABCMeta
from typing import Any, Final

_CACHE: Final = "__jsonrill_partial__"


class PartialInstance:
    """What partial instances have in common. `__partial_of__` is the class they are part of."""

    __slots__ = ()
    __partial_of__: Any = None

    def __init_subclass__(cls, **options: Any) -> None:
        """Call nothing: the classes around this one may count their subclasses."""

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _restored, (self.__partial_of__, self.__getstate__())


class PartialModel(PartialInstance):
    """A partial instance of a pydantic model, which can be written before it is complete."""

    __slots__ = ()

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """As of the model, but never a warning, and without what cannot be written yet."""
        try:
            whole: dict[str, Any] = super().model_dump(**options, **_quiet(options))  # type: ignore[misc]
            return whole
        except Exception:  # a computed field or a serializer that needs what has not come
            return self._dump_parts(options)

    def model_dump_json(self, **options: Any) -> str:
        """As of the model, but never a warning, and without what cannot be written yet."""
        try:
            whole: str = super().model_dump_json(**options, **_quiet(options))  # type: ignore[misc]
            return whole
        except Exception:
            indent, ascii_ = options.pop("indent", None), options.pop("ensure_ascii", False)
            value = self.model_dump(**{**options, "mode": "json"})
            separators = (",", ":") if indent is None else (",", ": ")
            return json.dumps(value, indent=indent, ensure_ascii=ascii_, separators=separators)

    def _dump_parts(self, options: dict[str, Any]) -> Any:
        cls = type(self)
        options = dict(options)
        include, exclude = options.pop("include", None), options.pop("exclude", None)
        found: dict[str, Any] = {}
        for name in (*_field_names(self), *cls.__pydantic_computed_fields__):  # type: ignore[attr-defined]
            if _names(name, include, True) and not _names(name, exclude, False):
                found.update(self._dump_part(name, options))
        if getattr(cls, "__pydantic_root_model__", False):
            return found.get("root")
        return found

    def _dump_part(self, name: str, options: dict[str, Any]) -> dict[str, Any]:
        """One field as the model writes it; a partial one inside by itself; {} if that fails."""
        whole = super()
        value = self.__dict__.get(name)
        if not _has_partial(value):
            try:
                only: Any = whole.model_dump(include={name}, **options, **_quiet(options))  # type: ignore[misc]
                if getattr(type(self), "__pydantic_root_model__", False):
                    return {"root": only}
                return {key: item for key, item in only.items() if key in (name, self._key(name))}
            except Exception:
                if name in type(self).__pydantic_computed_fields__:  # type: ignore[attr-defined]
                    return {}
        elif options.get("exclude_unset") and name not in self.model_fields_set:  # type: ignore[attr-defined]
            return {}
        by_alias = options.get("by_alias")
        return {self._key(name) if by_alias else name: _dumped(value, options)}

    def _key(self, name: str) -> str:
        field = type(self).__pydantic_fields__.get(name)  # type: ignore[attr-defined]
        if field is None:
            field = type(self).__pydantic_computed_fields__.get(name)  # type: ignore[attr-defined]
        alias = getattr(field, "serialization_alias", None) or getattr(field, "alias", None)
        return alias or name

    def __repr_args__(self) -> Any:
        """Without computed fields, which may need what has not come."""
        extra = getattr(self, "__pydantic_extra__", None) or {}
        fields = type(self).__pydantic_fields__  # type: ignore[attr-defined]
        yield from ((name, self.__dict__[name]) for name in fields if fields[name].repr)
        yield from extra.items()


def partial_class(cls: Any) -> Any:
    """The class of partial instances of this class: `Partial[…]`, a subclass."""
    known = cls.__dict__.get(_CACHE)
    if known is None:
        is_model = hasattr(cls, "__pydantic_fields_set__") or hasattr(cls, "model_construct")
        bases = (PartialModel if is_model else PartialInstance, cls)
        name = f"Partial[{cls.__name__}]"
        space = {"__module__": cls.__module__, "__qualname__": name, "__partial_of__": cls}
        meta: Any = type(cls)
        # Not by calling the metaclass of a model, which would build its schema once more.
        make = ABCMeta.__new__ if issubclass(meta, ABCMeta) else type.__new__
        known = make(meta, name, bases, space)
        type.__setattr__(cls, _CACHE, known)
    return known


def partial_model(cls: Any, values: dict[str, Any], known: set[str], extra: Any = None) -> Any:
    """A partial instance of a model; `known` are the fields that have come."""
    made = object.__new__(partial_class(cls))
    put = object.__setattr__
    put(made, "__dict__", values)
    put(made, "__pydantic_fields_set__", known)
    put(made, "__pydantic_extra__", extra)
    private = {
        name: attribute.get_default() for name, attribute in cls.__private_attributes__.items()
    }
    put(made, "__pydantic_private__", private or None)
    return made


def partial_dataclass(cls: Any, values: dict[str, Any]) -> Any:
    """A partial instance of a dataclass."""
    made = object.__new__(partial_class(cls))
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made


def _restored(cls: Any, state: Any) -> Any:
    """A copy of a partial instance, from its state."""
    made = object.__new__(partial_class(cls))
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
        return made
    for part in state if isinstance(state, tuple) else (state,):
        for name, value in (part or {}).items():
            object.__setattr__(made, name, value)
    return made


def _quiet(options: dict[str, Any]) -> dict[str, Any]:
    return {} if "warnings" in options else {"warnings": False}


def _field_names(model: Any) -> list[str]:
    return [*type(model).__pydantic_fields__, *(model.__pydantic_extra__ or ())]


def _names(name: str, given: Any, otherwise: bool) -> bool:
    """True if `include` or `exclude` names this field, all of it."""
    if given is None:
        return otherwise
    found = given.get(name, False) if isinstance(given, dict) else name in given
    return bool(found) and (
        otherwise or found is True or found is ... or not isinstance(given, dict)
    )


def _has_partial(value: Any) -> bool:
    if isinstance(value, PartialModel):
        return True
    if isinstance(value, dict):
        return any(map(_has_partial, value.values()))
    return isinstance(value, (list, tuple, set, frozenset)) and any(map(_has_partial, value))


def _dumped(value: Any, options: dict[str, Any]) -> Any:
    """A value inside a partial instance, written as far as it can be."""
    if hasattr(value, "model_dump"):
        return value.model_dump(**options)
    if isinstance(value, dict):
        return {key: _dumped(item, options) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        items = [_dumped(item, options) for item in value]
        return items if options.get("mode") == "json" else type(value)(items)
    if options.get("mode") == "json":
        from pydantic_core import to_jsonable_python

        return to_jsonable_python(value, fallback=str)
    return value
