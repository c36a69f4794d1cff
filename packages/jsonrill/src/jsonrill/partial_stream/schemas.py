"""The schema of each entity, from `schema=`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from ..paths import Place
from .entities import Declared, Entities

if TYPE_CHECKING:
    from ..schema import Schema

SchemaOf = Callable[[Declared, Place | None], "Schema | None"]


def schemas(schema: Any, entities: Entities, zeros: bool) -> SchemaOf | None:
    """Return a function that returns the schema of an entity, or None.

    An entity has the schema of its name, the only one, or its part of the schema of a root array.
    """
    if schema is None:
        return None
    from ..schema import Schema

    make = partial(Schema, zeros=zeros)
    if _is_by_name(schema, entities):
        by_name = {name: make(one) for name, one in schema.items()}
        return lambda declared, place: by_name.get(declared.name)
    whole = make(schema)
    if entities.is_default and whole.describes_arrays:
        return _items_of(whole)
    return lambda declared, place: whole


def _items_of(array: Schema) -> SchemaOf:
    def schema_of(declared: Declared, place: Place | None) -> Schema | None:
        if place is not None and place.parent is None and type(place.key) is int:
            return array.item(place.key)
        return array

    return schema_of


def _is_by_name(schema: Any, entities: Entities) -> bool:
    """True if this is a schema for each name rather than one JSON Schema."""
    return (
        isinstance(schema, Mapping)
        and bool(schema)
        and schema.keys() <= set(entities.names)
        and not any(isinstance(one, (str, float, list)) for one in schema.values())
    )
