"""Which schema an entity must keep to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..paths import Place, path_of
from .entities import Declared, Entities

if TYPE_CHECKING:
    from ..schema import Schema

SchemaOf = Callable[[Declared, Place | None], "Schema | None"]


def schemas(schema: Any, document_schema: Any, entities: Entities) -> SchemaOf | None:
    """Which schema judges an entity: that of its name, the one, or its part of the document's."""
    if schema is None and document_schema is None:
        return None
    if schema is not None and document_schema is not None:
        raise ValueError("give `schema` for one entity or `document_schema` for all, not both")
    from ..schema import Schema

    if document_schema is not None:
        document = Schema(document_schema)
        return lambda declared, place: document.at(path_of(place))
    if _is_by_name(schema, entities):
        by_name = {name: Schema(one) for name, one in schema.items()}
        return lambda declared, place: by_name.get(declared.name)
    whole = Schema(schema)
    element = whole.items() if entities.is_default else None
    return lambda declared, place: whole if element is None or place is None else element


def _is_by_name(schema: Any, entities: Entities) -> bool:
    """Is this a schema for each name, rather than one JSON Schema?"""
    return (
        isinstance(schema, Mapping)
        and bool(schema)
        and schema.keys() <= set(entities.names)
        and not any(isinstance(one, (str, float, list)) for one in schema.values())
    )
