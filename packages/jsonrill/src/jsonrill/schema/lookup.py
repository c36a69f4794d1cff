"""Long lists of allowed values, in a form in which a value is looked up, not compared with each.

jsonschema-rs looks up strings and null among strings, and the alternatives that the `const` of a
required property tells apart. What it would go through one by one is rewritten for it: a list of
alternatives that are each a `const` becomes an `enum`, and the numbers of an `enum` a tree that is
searched by halves. Verdicts stay the same. Places inside a schema do, too, but for alternatives
that are values now; a document that refers to such places is left as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

# Up to this number of values are compared one by one.
FEW: Final = 16
# Between these, integers and fractions are compared exactly.
_EXACT: Final = 1 << 53
_SAYS_NOTHING: Final = frozenset(
    ("title", "description", "$comment", "default", "deprecated", "examples", "readOnly",
     "writeOnly")
)  # fmt: skip
_TYPES: Final = {str: ("string",), int: ("integer", "number"), float: ("number",),
                 bool: ("boolean",), type(None): ("null",)}  # fmt: skip
CHOICES: Final = ("anyOf", "oneOf")


def listed(schema: Any, keyword: str, draft: int) -> list[Any] | None:
    """The values that a long list of alternatives allows, if each is nothing but such values."""
    alternatives = schema.get(keyword, ())
    if len(alternatives) <= FEW:
        return None
    by_key: dict[Any, Any] = {}
    counts: Counter[Any] = Counter()
    for one in alternatives:
        values = _values(one, draft)
        if values is None:
            return None
        own = {_key(value): value for value in values}
        counts.update(own.keys())
        by_key.update(own)
    if keyword == "oneOf":
        return [value for key, value in by_key.items() if counts[key] == 1]
    return list(by_key.values())


def compared(values: Any, draft: int | None) -> int:
    """With how many values of an `enum` each value is compared, if these are many.

    Without a draft, as the `enum` was written.
    """
    if not isinstance(values, list) or len(values) <= FEW:
        return 0
    if draft is None:
        return 0 if all(isinstance(value, str) for value in values) else len(values)
    rest = sum(1 for value in values if not _is_looked_up(value))
    return rest if rest > FEW else 0


def may_look_up(source: Any) -> bool:
    """False if a reference leads into alternatives, or a part has a draft of its own."""
    todo = [source]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            todo += part.values()
            reference = part.get("$ref")
            if isinstance(reference, str) and "Of" in unquoted(reference.partition("#")[2]):
                return False
            if "$schema" in part and part is not source:
                return False
        elif isinstance(part, list):
            todo += part
    return True


def told_apart(alternatives: list[Any]) -> tuple[str, list[str]] | None:
    """A property that each alternative requires, with another string in each; and these strings."""
    if len(alternatives) <= FEW:
        return None
    for name in _constants(alternatives[0]):
        values = [_constants(one).get(name) for one in alternatives]
        if len({value for value in values if value is not None}) == len(values):
            return name, [value for value in values if value is not None]
    return None


def with_lookups(source: Any, draft: int) -> Any:
    """A copy of a schema in which values are looked up; the same object if there are none."""
    changed = _Copy(draft)
    copy = changed.of(source)
    return copy if changed.count else source


def enum_of(values: list[Any]) -> dict[str, Any]:
    """A schema of these values alone."""
    numbers = sorted(value for value in values if _is_number(value) and _is_looked_up(value))
    if len(numbers) <= FEW:
        numbers = []
    texts = [value for value in values if isinstance(value, str) or value is None]
    known = {_key(value) for value in (*numbers, *texts)}
    rest = [
        value for value in values if isinstance(value, (dict, list)) or _key(value) not in known
    ]
    groups = [{"enum": group} for group in (texts, rest) if group]
    if numbers:
        groups.append(_tree(numbers, 0, len(numbers)))
    return groups[0] if len(groups) == 1 else {"anyOf": groups} if groups else {"not": {}}


class _Copy:
    """A copy of a schema, each long list of values in the form that is looked up."""

    def __init__(self, draft: int) -> None:
        self._draft = draft
        self.count = 0

    def of(self, schema: Any) -> Any:
        if isinstance(schema, list):
            return [self.of(one) for one in schema]
        if not isinstance(schema, dict):
            return schema
        copy = {
            key: value if key in ("enum", "const", "default", "examples") else self.of(value)
            for key, value in schema.items()
        }
        added = list(self._added(schema))
        if added and not ("$ref" in schema and self._draft <= 7):
            self.count += len(added)
            for keyword, _ in added:
                del copy[keyword]
            copy["allOf"] = [*copy.get("allOf", ()), *(lookup for _, lookup in added)]
        return copy

    def _added(self, schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The keywords that are replaced, each by another schema."""
        if not isinstance(schema.get("allOf", []), list):
            return
        for keyword in CHOICES:
            if isinstance(schema.get(keyword), list):
                values = listed(schema, keyword, self._draft)
                if values is not None:
                    yield keyword, enum_of(values)
        values = schema.get("enum")
        if isinstance(values, list) and len(values) > FEW:
            lookup = enum_of(values)
            if lookup != {"enum": values}:
                yield "enum", lookup


def _constants(schema: Any) -> dict[str, str]:
    """The properties that must be there with one certain string each."""
    if not isinstance(schema, dict):
        return {}
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict) or not isinstance(required, list):
        return {}
    by_name = {name: _values(properties.get(name), 6) for name in required if isinstance(name, str)}
    return {
        name: values[0]
        for name, values in by_name.items()
        if values is not None and len(values) == 1 and isinstance(values[0], str)
    }


def _values(schema: Any, draft: int) -> list[Any] | None:
    """The scalars that a schema allows, if it says nothing else."""
    if not isinstance(schema, dict) or ("const" in schema and "enum" in schema):
        return None
    if not schema.keys() - _SAYS_NOTHING <= {"const", "enum", "type"}:
        return None
    is_const = "const" in schema and draft > 4
    values: Any = [schema["const"]] if is_const else schema.get("enum")
    if not isinstance(values, list) or not all(type(value) in _TYPES for value in values):
        return None
    if "type" in schema and not all(schema["type"] in _TYPES[type(value)] for value in values):
        return None
    return values


def _key(value: Any) -> Any:
    """What is the same for scalars that JSON Schema takes as equal: 1 and 1.0, not 1 and true."""
    return (type(value), value) if isinstance(value, (bool, str)) else value


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _is_looked_up(value: Any) -> bool:
    if _is_number(value):
        return bool(-_EXACT < value < _EXACT)
    return isinstance(value, (str, bool)) or value is None


def _tree(numbers: list[Any], begin: int, end: int) -> dict[str, Any]:
    """A search by halves; everything else is refused by its first type or bound."""
    if end - begin <= FEW // 2:
        return {"type": "number", "enum": numbers[begin:end]}
    middle = (begin + end) // 2
    return {
        "type": "number",
        "minimum": numbers[begin],
        "maximum": numbers[end - 1],
        "anyOf": [_tree(numbers, begin, middle), _tree(numbers, middle, end)],
    }


def unquoted(fragment: str) -> str:
    """The fragment of a URI without its percent signs."""
    first, *rest = fragment.split("%")
    parts = (bytes.fromhex(part[:2]) + part[2:].encode() for part in rest)
    try:
        return first + b"".join(parts).decode()
    except ValueError:
        return fragment
