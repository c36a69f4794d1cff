"""The two validators of complete values, which decide: pydantic and jsonschema-rs.

Each is made when it is first used, and only then needs its library. What a validator cannot say
about a part it says about the complete value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Protocol

from ..jsontext import dumps
from ..paths import ABSENT, Path
from .nodes import (
    ARRAY,
    FALSE,
    FRACTION,
    INTEGER,
    LIMIT,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    TRUE,
    Refusal,
    named,
    shown,
)

# What jsonschema-rs calls the value in its messages, and how long such a message may be.
MASK: Final = "the value"
_LONGEST: Final = 300

# How often subschemas may be visited: for a verdict at the end (5 million take a quarter of a
# second), for one in between, and for reasons, which take a thousand times as long.
_FINAL: Final = 5_000_000
_EARLY: Final = 10_000
_EXPLAINED: Final = 2_000
_REASON: Final = 1_000
# And for all values of a stream together, where a value takes more than a few.
_OF_STREAM: Final = 100_000_000

_SAMPLES: Final = {
    STRING: '""',
    NUMBER: "0",
    INTEGER: "0",
    FRACTION: "0.5",
    TRUE: "true",
    FALSE: "false",
    NULL: "null",
    OBJECT: "{}",
    ARRAY: "[]",
}


class Cost(Protocol):
    """What validating by one schema costs, if that can be more than the value's size."""

    def visits(
        self, value: Any, limit: int, *, explained: bool = False, counted: bool = True
    ) -> int:
        """How often subschemas are visited, more than `limit` if too often to be counted.

        0 where they are few for each value. `explained`: with reasons. Counting visits takes longer
        than making them, so it is for the complete value alone; else this is a bound.
        """


class Budget:
    """How often subschemas may still be visited for the values of one stream."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = _OF_STREAM

    def spend(self, visits: int) -> bool:
        """False if there is not as much left; then there is nothing left."""
        self._left = max(self._left - visits, 0) if visits else self._left
        return not visits or self._left > 0


# The names of bounds, in JSON Schema and in pydantic; and the rules by which they refuse.
_BOUNDS: Final = {
    "at least": ("minimum", "ge"),
    "more than": ("exclusiveMinimum", "gt"),
    "at most": ("maximum", "le"),
    "less than": ("exclusiveMaximum", "lt"),
}
_OUT_OF_BOUNDS: Final = frozenset(
    ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
    + ("greater_than", "greater_than_equal", "less_than", "less_than_equal")
)


def _bound(value: Any) -> str:
    """As JSON has it; 5.0, which pydantic 2.10 makes of 5, as 5."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return shown(int(value) if is_whole else value)


def bounds_of(schema: Mapping[str, Any]) -> str:
    """`at least 0 and less than 5`: the bounds of a number; "" if it has not both."""
    bounds = {
        word: f"{word} {_bound(schema[name])}"
        for word, names in _BOUNDS.items()
        for name in names
        if schema.get(name) is not None and not isinstance(schema[name], bool)
    }
    lower = bounds.get("more than") or bounds.get("at least")
    upper = bounds.get("less than") or bounds.get("at most")
    return f"{lower} and {upper}" if lower and upper else ""


class LazyValidator:
    """A validator of a library, made when it is first used. `bounds` are those of a number."""

    __slots__ = ("_bounds", "_made", "_make")

    def __init__(self, make: Callable[[], Any], bounds: str = "") -> None:
        self._make = make
        self._made: Any = None
        self._bounds = bounds

    def _with_bounds(self, refusal: Refusal) -> Refusal:
        """The refusal; of a number that is out of bounds with both of them."""
        if not self._bounds or refusal.path or refusal.rule not in _OUT_OF_BOUNDS:
            return refusal
        return refusal._replace(text=f"{refusal.text}: allowed is {self._bounds}")

    def is_usable(self) -> bool:
        try:
            return self._validator is not None
        except Exception:  # a part that its library does not take on its own
            return False

    @property
    def _validator(self) -> Any:
        if self._made is None:
            self._made = self._make()
        return self._made


class JsonSchemaValidator(LazyValidator):
    """A validator of jsonschema-rs; with `rule`, every refusal is by that one.

    It is not asked about values for which `cost` is too high, and gives reasons only for those
    where these are few. `explain` makes the validator that gives them, if that is another one.
    """

    __slots__ = ("_cost", "_explaining", "_rule")

    def __init__(
        self,
        make: Callable[[], Any],
        rule: str | None = None,
        cost: Cost | None = None,
        explain: Callable[[], Any] | None = None,
        bounds: str = "",
    ) -> None:
        super().__init__(make, bounds)
        self._rule = rule
        self._cost = cost
        # None, not itself: what a large schema was compiled to goes with its last user.
        self._explaining = None if explain is None else LazyValidator(explain)

    def refusal(self, value: Any, budget: Budget | None = None) -> Refusal | None:
        if self._cost is not None:
            visits = self._cost.visits(value, _EARLY, counted=False)
            if visits > _EARLY or not (budget is None or budget.spend(visits)):
                return None
        try:
            return self._refusal(value, budget, final=False)
        except (ValueError, RecursionError):
            return None  # too deep, or not Unicode

    def final(self, value: Any, budget: Budget | None = None) -> tuple[Refusal | None, Any]:
        visits = 0 if self._cost is None else self._cost.visits(value, _FINAL)
        if visits > _FINAL:
            text = f"this schema has more than {_FINAL} ways to validate {MASK}"
            return Refusal(LIMIT, text), None
        if budget is not None and not budget.spend(visits):
            text = f"this schema has more than {_OF_STREAM} ways to validate the stream"
            return Refusal(LIMIT, text), None
        try:
            return self._refusal(value, budget, final=True), None
        except UnicodeEncodeError:
            return self.final(_without_surrogates(value), budget)
        except (ValueError, RecursionError) as error:
            return Refusal("depth", f"{MASK} cannot be validated: {error}"), None

    def sample(self, kind: int) -> Refusal | None:
        return None

    def accepts(self, value: str) -> bool:
        try:
            return bool(self._validator.is_valid(value))
        except UnicodeEncodeError:
            return bool(self._validator.is_valid(_without_surrogates(value)))

    def _refusal(self, value: Any, budget: Budget | None, *, final: bool) -> Refusal | None:
        if self._validator.is_valid(value):
            return None
        if self._cost is not None:
            visits = self._cost.visits(value, _EXPLAINED, explained=True, counted=final)
            if visits > _EXPLAINED or not (budget is None or budget.spend(_REASON * visits)):
                return Refusal(self._rule or "schema", "no alternative of the schema allows this")
        for error in (self._explaining or self)._validator.iter_errors(value):
            return self._explained(error)
        return Refusal(self._rule or "enum", f"{shown(value)} is not an allowed value")

    def _explained(self, error: Any) -> Refusal:
        rule = self._rule or error.kind.name
        if rule == "falseSchema":
            closed = "additionalProperties" in error.schema_path[-1:]
            rule = "additionalProperties" if closed else "false"
        text = error.message
        if not isinstance(error.instance, (dict, list)):
            value = shown(error.instance)
            text = text.replace(MASK, value, 1) if MASK in text else f"{text}, not {value}"
        if len(text) > _LONGEST:
            text = text[:_LONGEST] + "…"
        return self._with_bounds(Refusal(rule, text, tuple(error.instance_path)))


class PydanticValidator(LazyValidator):
    """A validator of pydantic, asked in JSON mode; `wrap` makes what it is asked about."""

    __slots__ = ("_wrap",)

    def __init__(
        self, make: Callable[[], Any], wrap: Callable[[Any], Any] | None = None, bounds: str = ""
    ) -> None:
        super().__init__(make, bounds)
        self._wrap = wrap

    def refusal(self, value: Any, budget: Budget | None = None) -> Refusal | None:
        from pydantic_core import ValidationError

        if self._wrap is not None:
            value = self._wrap(value)
        try:
            self._validator.validate_json(dumps(value, strict=True))
        except ValidationError as error:
            return self._with_bounds(_explained(error, value))
        except Exception:
            return None  # a function of the user's failed; if it does so in its place, that counts
        return None

    def final(self, value: Any, budget: Budget | None = None) -> tuple[Refusal | None, Any]:
        from pydantic_core import ValidationError

        try:
            return None, self._validated(value)
        except ValidationError as error:
            return self._with_bounds(_explained(error, value)), None
        except RecursionError as error:
            return Refusal("depth", f"{MASK} cannot be validated: {error}"), None
        except Exception as error:  # whatever a function of the user's raises is its verdict
            return Refusal(type(error).__name__, f"a validator failed: {error}"), None

    def attempt(self, value: Any) -> tuple[Refusal | None, Any]:
        """As `final`, for a part: without a verdict (None and `ABSENT`) if a function fails."""
        from pydantic_core import ValidationError

        try:
            return None, self._validated(value)
        except ValidationError as error:
            return self._with_bounds(_explained(error, value)), ABSENT
        except Exception:
            return None, ABSENT  # if it fails in its place, that counts

    def key(self, key: str) -> Any:
        """What pydantic makes of a key."""
        refusal, validated = self.attempt({key: None})
        return key if refusal is not None or validated is ABSENT else next(iter(validated))

    def default(self) -> Any:
        """The default of a field, validated."""
        default = self._validator.get_default_value()
        return None if default is None else default.value

    def sample(self, kind: int) -> Refusal | None:
        """The refusal of a simple value of this kind, if pydantic refuses it."""
        from pydantic_core import ValidationError

        try:
            self._validator.validate_json(_SAMPLES[kind])
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            return Refusal(first["type"], f"{first['msg']}, not {named(kind)}")
        except Exception:
            return None
        return None

    def _validated(self, value: Any) -> Any:
        try:
            text = dumps(value, strict=True)
        except TypeError:
            # Numbers that were read with another parse_float have no JSON form here.
            return self._validator.validate_python(value)
        return self._validator.validate_json(text)


class Known(dict[str, Any]):
    """The parts of a container that are known already, for its prefilled validator.

    It is the context of that validation, and to the user's functions an empty one.
    """

    __slots__ = ("fields", "items_left")

    def __init__(self, fields: dict[str, Any], items: Iterable[Any]) -> None:
        super().__init__()
        self.fields = fields
        self.items_left = iter(items)


def attempt_prefilled(
    validator: Any, text: str, known: Known, value: Any
) -> tuple[Refusal | None, Any]:
    """As `attempt`, by a prefilled validator: what is known is not in the text."""
    from pydantic_core import ValidationError

    try:
        return None, validator.validate_json(text, context=known)
    except ValidationError as error:
        return _explained(error, value), ABSENT
    except Exception:
        return None, ABSENT


def known_field(name: str, value: Any, handler: Any, info: Any) -> Any:
    """The field of a prefilled validator: what is known of it, else what pydantic makes of it."""
    known = info.context.fields.get(name, ABSENT)
    return handler(value) if known is ABSENT else known


def next_known(value: Any, handler: Any, info: Any) -> Any:
    """The next element or member of a prefilled validator."""
    known = next(info.context.items_left)
    return handler(value) if known is ABSENT else known


def _explained(error: Any, value: Any) -> Refusal:
    """The first of pydantic's complaints."""
    first = error.errors(include_url=False, include_context=False)[0]
    text = first["msg"]
    if not isinstance(first["input"], (dict, list)) and first["type"] != "json_invalid":
        text += f", not {shown(first['input'])}"
    return Refusal(first["type"], text, _path(first["loc"], value))


def _path(location: tuple[Any, ...], value: Any) -> Path:
    """The path in the value of pydantic's location, which also names alternatives."""
    path: list[str | int] = []
    for step in location:
        if isinstance(value, dict):
            there = isinstance(step, str) and step in value
        else:
            there = isinstance(value, list) and type(step) is int and 0 <= step < len(value)
        if there:
            path.append(step)
            value = value[step]
    return tuple(path)


def _without_surrogates(value: Any) -> Any:
    """As the value, but lone surrogates, which have no UTF-8 form, are U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
    return value
