"""Instances of classes of which only a part is known: `Partial[Trip]`.

A partial instance belongs to a subclass that is made when it is first needed. Making one runs no
code of the class: no `__init__`, no validator, no `__init_subclass__`.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable
from typing import Any, Final, cast

_CACHE: Final = "__jsonrill_partial__"
_new: Final = object.__new__
_put: Final = object.__setattr__


def is_partial(value: object) -> bool:
    """Return whether this is an instance of a model or dataclass that is not complete yet."""
    return getattr(type(value), "__partial_of__", None) is not None


class PartialInstance:
    """The base of partial instances; `__partial_of__` is the class they are part of."""

    __slots__ = ()
    __partial_of__: Any = None

    def __init_subclass__(cls, **options: Any) -> None:
        """Call nothing: the classes around this one may count their subclasses."""

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _restore, (self.__partial_of__, self.__getstate__())


class PartialModel(PartialInstance):
    """A partial instance of a pydantic model, which can be dumped before it is complete."""

    __slots__ = ()

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """Dump without warnings, and without computed fields if one fails."""
        return cast("dict[str, Any]", self._dump(cast(Any, super()).model_dump, options))

    def model_dump_json(self, **options: Any) -> str:
        """Dump without warnings, and without computed fields if one fails."""
        return cast("str", self._dump(cast(Any, super()).model_dump_json, options))

    def _dump(self, dump: Callable[..., Any], options: dict[str, Any]) -> Any:
        options = {"warnings": False, **options}
        try:
            return dump(**options)
        except Exception:  # a computed field needs what has not come
            computed = cast(Any, type(self)).model_computed_fields
            return dump(**{**options, "exclude": {*(options.get("exclude") or ()), *computed}})

    def __repr_args__(self) -> Any:
        """Leave out computed fields, which may need what has not come."""
        fields = cast(Any, type(self)).model_fields
        yield from ((name, self.__dict__[name]) for name in fields if fields[name].repr)
        yield from (getattr(self, "__pydantic_extra__", None) or {}).items()


def partial_class(cls: Any) -> Any:
    """Return the class of partial instances of a class: `Partial[…]`, a subclass."""
    known = cls.__dict__.get(_CACHE)
    if known is None:
        bases = (PartialModel if hasattr(cls, "model_construct") else PartialInstance, cls)
        name = f"Partial[{cls.__name__}]"
        space = {"__module__": cls.__module__, "__qualname__": name, "__partial_of__": cls}
        meta: Any = type(cls)
        # Calling the metaclass of a model would build its schema once more.
        make = ABCMeta.__new__ if issubclass(meta, ABCMeta) else type.__new__
        known = make(meta, name, bases, space)
        type.__setattr__(cls, _CACHE, known)
    return known


def partial_model(cls: Any, values: dict[str, Any], names: set[str], extra: Any = None) -> Any:
    """Return a partial instance of a model; `names` are the fields that have come."""
    instance = _new(cls.__dict__.get(_CACHE) or partial_class(cls))
    private = cls.__private_attributes__
    if private:
        private = {name: attribute.get_default() for name, attribute in private.items()}
    _put(instance, "__dict__", values)
    _put(instance, "__pydantic_fields_set__", names)
    _put(instance, "__pydantic_extra__", extra)
    _put(instance, "__pydantic_private__", private or None)
    return instance


def partial_dataclass(cls: Any, values: dict[str, Any], *unused: Any) -> Any:
    """Return a partial instance of a dataclass."""
    instance = _new(partial_class(cls))
    for name, value in values.items():
        _put(instance, name, value)
    return instance


def _restore(cls: Any, state: Any) -> Any:
    """Return a copy of a partial instance, from its state."""
    instance = _new(partial_class(cls))
    if hasattr(instance, "__setstate__"):
        instance.__setstate__(state)
        return instance
    for part in state if isinstance(state, tuple) else (state,):
        for name, value in (part or {}).items():
            _put(instance, name, value)
    return instance
