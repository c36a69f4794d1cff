"""What the functions take, as types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ..errors import CutShort

Text = str | bytes

# Text, or an iterable of text or of a provider's events.
Source = Text | Iterable[Any]


if TYPE_CHECKING:
    # Only there it may have a default in Python 3.11: without a type values are plain.
    from typing_extensions import TypeVar as TypeVarWithDefault

    V = TypeVarWithDefault("V", default=Any)
else:
    V = TypeVar("V")

T = TypeVar("T")

U = TypeVar("U")

T_co = TypeVar("T_co", covariant=True)

JsonSchema = Mapping[str, Any] | bool


class Adapter(Protocol[T_co]):
    """What a type checker needs to know of a pydantic `TypeAdapter`: what it makes."""

    def validate_python(self, object: Any, /) -> T_co: ...


# What describes values: a type makes instances of it, a JSON Schema leaves them plain.
AnySchema = type[V] | Adapter[V] | JsonSchema | None


class Ended(Protocol):
    """What knows, once a text has ended, how the answer that it is the text of was cut."""

    cut: CutShort | None
