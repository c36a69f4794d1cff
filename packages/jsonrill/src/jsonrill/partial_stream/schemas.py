"""The schema of each entity and of the document, from `schema=` or `document_schema=`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from ..paths import Place, path_of
from .entities import Declared, Entities

if TYPE_CHECKING:
    from ..schema import Schema

SchemaOf = Callable[[Declared, Place | None], "Schema | None"]


def schemas(
    schema: Any, document_schema: Any, entities: Entities, check_formats: bool, zeros: bool
) -> tuple[SchemaOf | None, Schema | None]:
    """A function that returns the schema of an entity, and the schema of what is around entities.

    That of an entity is the schema of its name, the only one, or its part of the document's. Each
    is None where there is none.
    """
    if schema is None and document_schema is None:
        return None, None
    if schema is not None and document_schema is not None:
        raise ValueError("give `schema` for one entity or `document_schema` for all, not both")
    from ..schema import Schema

    make = partial(Schema, check_formats=check_formats, zeros=zeros)
    if document_schema is not None:
        document = make(document_schema)
        return _parts_of(document), document
    if _is_by_name(schema, entities):
        by_name = {name: make(one) for name, one in schema.items()}
        return lambda declared, place: by_name.get(declared.name), None
    whole = make(schema)
    if entities.is_default and whole.describes_arrays():
        return _parts_of(whole), whole
    return lambda declared, place: whole, None


def _parts_of(document: Schema) -> SchemaOf:
    def schema_of(declared: Declared, place: Place | None) -> Schema | None:
        if place is not None and place.parent is None and type(place.key) is int:
            return document.item(place.key)
        return document.at(path_of(place))

    return schema_of


def _is_by_name(schema: Any, entities: Entities) -> bool:
    """True if this is a schema for each name rather than one JSON Schema."""
    return (
        isinstance(schema, Mapping)
        and bool(schema)
        and schema.keys() <= set(entities.names)
        and not any(isinstance(one, (str, float, list)) for one in schema.values())
    )
