"""Instances of classes of which only a part is known: `Partial[Trip]`.

A partial instance is one of a subclass, made for each class when it is first needed, without
running any code of the class: no `__init__`, no validator, no `__init_subclass__`.
"""

from __future__ import annotations

import json
from abc import ABCMeta
from collections.abc import Callable
from inspect import getattr_static
from operator import is_
from types import MemberDescriptorType
from typing import Any, Final, cast

_CACHE: Final = "__jsonrill_partial__"
_MAKE: Final = "__jsonrill_make__"
_SLOTS: Final = ("__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
_new: Final = object.__new__
_put: Final = object.__setattr__


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
        model: Any = super()
        try:
            return cast("dict[str, Any]", model.model_dump(**_quiet(options)))
        except Exception:  # a computed field or a serializer that needs what has not come
            return cast("dict[str, Any]", self._dump_parts(_quiet(options)))

    def model_dump_json(self, **options: Any) -> str:
        """As of the model, but never a warning, and without what cannot be written yet."""
        model: Any = super()
        try:
            return cast("str", model.model_dump_json(**_quiet(options)))
        except Exception:
            indent, ascii_ = options.pop("indent", None), options.pop("ensure_ascii", False)
            value = self.model_dump(**{**options, "mode": "json"})
            separators = (",", ":") if indent is None else (",", ": ")
            return json.dumps(value, indent=indent, ensure_ascii=ascii_, separators=separators)

    def _dump_parts(self, options: dict[str, Any]) -> Any:
        """Each field by itself, without what fails."""
        include, exclude = options.pop("include", None), options.pop("exclude", None)
        cls: Any = type(self)
        dumped: dict[str, Any] = {}
        extra: Any = self.__pydantic_extra__ or ()  # type: ignore[attr-defined]
        for name in (*cls.__pydantic_fields__, *extra, *cls.__pydantic_computed_fields__):
            if (include is None or name in include) and (exclude is None or name not in exclude):
                dumped.update(self._dump_part(name, options))
        return dumped.get("root") if cls.__pydantic_root_model__ else dumped

    def _dump_part(self, name: str, options: dict[str, Any]) -> dict[str, Any]:
        """One field as the model writes it; if that fails, as it is, or {} if it is computed."""
        cls, model = cast(Any, type(self)), cast(Any, super())
        value = self.__dict__.get(name)
        if cls.__pydantic_root_model__:
            return {name: _dumped(value, options)}
        # The other computed fields would be computed, too.
        others = {it for it in cls.__pydantic_computed_fields__ if it != name}
        try:
            dumped = model.model_dump(**options, include={name}, exclude=others)
            return cast("dict[str, Any]", dumped)
        except Exception:
            if name in others or name not in {*cls.__pydantic_fields__, *self.__dict__}:
                return {}
        field = cls.__pydantic_fields__.get(name)
        alias = field.serialization_alias if field is not None else None
        return {alias if alias and options.get("by_alias") else name: _dumped(value, options)}

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
    partial = cls.__dict__.get(_CACHE) or partial_class(cls)
    private: Any = cls.__private_attributes__
    if private:
        private = {name: attribute.get_default() for name, attribute in private.items()}
    return model_of(partial, values, known, extra, private or None)


def model_of(
    cls: Any, values: dict[str, Any], known: set[str], extra: Any = None, private: Any = None
) -> Any:
    """An instance of a model that is nothing but these."""
    instance = _new(cls)
    _put(instance, "__dict__", values)
    _put(instance, "__pydantic_fields_set__", known)
    _put(instance, "__pydantic_extra__", extra)
    _put(instance, "__pydantic_private__", private)
    return instance


def has_only_fields(cls: Any) -> bool:
    """True if making an instance of a model is no more than setting its fields."""
    slots = (getattr_static(cls, name, None) for name in _SLOTS)
    is_model = all(isinstance(slot, MemberDescriptorType) for slot in slots)
    return is_model and cls.__new__ is object.__new__ and not cls.__private_attributes__


def plain_partial(cls: Any) -> tuple[Any, ...] | None:
    """What makes partial instances of a model that has nothing but fields, else None.

    Their class; a function of their fields, what is no field, and the names that have come; and
    the slots of the class for the last two and for private attributes. Of these there may be none,
    nor a `__new__`.
    """
    partial = partial_class(cls)
    if _MAKE not in partial.__dict__:
        make = _core_maker(partial) if has_only_fields(cls) else None
        slots = [getattr_static(cls, name, None) for name in _SLOTS]
        type.__setattr__(partial, _MAKE, None if make is None else (partial, make, *slots))
    return cast("tuple[Any, ...] | None", partial.__dict__[_MAKE])


def _core_maker(partial: Any) -> Callable[[Any], Any] | None:
    """A validator that takes anything and makes an instance of it: in a third of the time."""
    from pydantic_core import SchemaValidator, core_schema

    schema = core_schema.model_schema(partial, core_schema.any_schema())
    make: Callable[[Any], Any] = SchemaValidator(schema).validate_python
    parts: Any = {"a": 1}, None, {"a"}
    try:
        instance = make(parts)
        own = instance.__dict__, instance.__pydantic_extra__, instance.__pydantic_fields_set__
        is_right = type(instance) is partial and instance.__pydantic_private__ is None
    except Exception:  # a version of pydantic that does otherwise
        return None
    return make if is_right and all(map(is_, own, parts)) else None


def partial_dataclass(cls: Any, values: dict[str, Any], *unused: Any) -> Any:
    """A partial instance of a dataclass, which knows no more of itself than its values."""
    instance = object.__new__(partial_class(cls))
    for name, value in values.items():
        object.__setattr__(instance, name, value)
    return instance


def _restored(cls: Any, state: Any) -> Any:
    """A copy of a partial instance, from its state."""
    instance = object.__new__(partial_class(cls))
    if hasattr(instance, "__setstate__"):
        instance.__setstate__(state)
        return instance
    for part in state if isinstance(state, tuple) else (state,):
        for name, value in (part or {}).items():
            object.__setattr__(instance, name, value)
    return instance


def _quiet(options: dict[str, Any]) -> dict[str, Any]:
    return {"warnings": False, **options}


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
