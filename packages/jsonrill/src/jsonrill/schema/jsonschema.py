"""JSON Schema → nodes, with jsonschema-rs as the validator that has the last word.

A keyword that needs the complete value (`not`, `if`, `contains`, …) makes its node ask
the validator when that value ends. An embedded resource (a subschema with its own `$id`) and
dynamic references are left to the validator altogether. What a keyword means depends on the draft:
4, 6, 7, 19 (2019-09) or 20 (2020-12).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from .lookup import FEW, listed
from .nodes import (
    ARRAY,
    BOOLEAN,
    EVERY,
    FRACTION,
    INTEGER,
    MANY_PATTERNS,
    NO_KEY,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    Choice,
    Elements,
    Members,
    Node,
    Refusal,
    allowed,
    kind_of,
    named,
    shown,
)
from .references import DYNAMIC, ReferencedSchema, is_resource, token

Schema = dict[str, Any]

_TYPES: Final = {
    "string": STRING,
    "number": NUMBER,
    "integer": NUMBER,
    "boolean": BOOLEAN,
    "null": NULL,
    "object": OBJECT,
    "array": ARRAY,
}
# Keywords about the end of a string or number, validated when it is complete.
_OF_STRINGS: Final = ("minLength", "pattern", "format", "contentEncoding", "contentMediaType")
_OF_NUMBERS: Final = (
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
)
_OF_SCALARS: Final = ("type", "enum", "const", "maxLength", *_OF_STRINGS, *_OF_NUMBERS)
_OF_OBJECTS: Final = (
    *("properties", "patternProperties", "additionalProperties", "propertyNames"),
    *("required", "minProperties", "maxProperties"),
)
_OF_ARRAYS: Final = ("prefixItems", "items", "additionalItems", "minItems", "maxItems")
# Keywords about a complete value, of whatever kind.
_OF_COMPLETE_OBJECTS: Final = (
    *("dependencies", "dependentRequired", "dependentSchemas", "unevaluatedProperties"),
)
_OF_COMPLETE_ARRAYS: Final = ("contains", "unevaluatedItems")
_OF_COMPLETE_VALUES: Final = (
    *("not", "if", "oneOf"),
    *_OF_COMPLETE_OBJECTS,
    *_OF_COMPLETE_ARRAYS,
)
# The kinds of value that keywords are about.
_ABOUT: Final = {
    STRING: ("maxLength", *_OF_STRINGS),
    NUMBER: _OF_NUMBERS,
    OBJECT: (*_OF_OBJECTS, *_OF_COMPLETE_OBJECTS),
    ARRAY: (*_OF_ARRAYS, *_OF_COMPLETE_ARRAYS, "uniqueItems"),
}
_REFERENCES: Final = ("$ref", *DYNAMIC)


def compile_schema(source: Mapping[str, Any] | bool) -> Node:
    """The node of a whole JSON Schema; `ValueError` if it is none."""
    return JsonSchemaCompiler(source if isinstance(source, bool) else dict(source)).root


class JsonSchemaCompiler:
    """One schema document: its nodes by place, each made once, so that it may refer to itself."""

    def __init__(self, source: Schema | bool) -> None:
        self._document = ReferencedSchema(source)
        self._draft = self._document.draft
        self._nodes: dict[Any, Node] = {}
        self._todo: list[tuple[Node, Any, str | None]] = []
        # Schemas without a known place are found by identity, so they must be kept alive.
        self._kept: list[Any] = []
        # Subschemas that apply to the same value, but are left to the validator.
        self._aside: dict[Node, list[Node]] = {}
        self.root = self._node(self._document.source, "", "")
        self.root.full_validator = self._document.whole()
        self.root.about = self._about()
        while self._todo:
            self._fill(*self._todo.pop())
        if self._turns_in_circles():
            self._validate_at_the_end_only()
        # Now, since compiling may happen where no request waits for it.
        self._document.prepare()

    def _node(self, schema: Any, pointer: str | None, name: Any) -> Node:
        """The node of a subschema by its name; `pointer` is its place, if that is known."""
        node = self._nodes.get(name)
        if node is None:
            node = self._nodes[name] = Node(full_validator=self._document.part(pointer))
            self._todo.append((node, schema, pointer))
            self._kept.append(schema)
        return node

    def _below(self, schema: Any, pointer: str | None, *steps: str | int) -> Node:
        """The node of the subschema under these steps."""
        name: Any = pointer if pointer is not None else id(schema)
        for step in steps:
            schema = schema[step]
            name = f"{name}/{token(step)}"
        return self._node(schema, None if pointer is None else name, name)

    def _fill(self, node: Node, schema: Any, pointer: str | None) -> None:
        if schema is False:
            node.kinds = node.natural = 0
        if not isinstance(schema, dict) or (pointer != "" and is_resource(schema)):
            return
        node.is_described = not any(keyword in schema for keyword in DYNAMIC)
        if "$ref" in schema:
            target = self._document.resolve(schema["$ref"])
            if target is not None:
                node.all.append(self._node(*target))
            else:
                node.is_described = False
            if self._draft <= 7:
                return  # in these drafts keywords beside a reference are ignored
        self._types(node, schema)
        self._combine(node, schema, pointer)
        if "maxLength" in schema:
            node.max_length = int(schema["maxLength"])
        if any(keyword in schema for keyword in _OF_OBJECTS):
            node.members = self._members(schema, pointer)
            if len(node.members.patterns) > MANY_PATTERNS:
                _ask_at_the_end(node)
        if any(keyword in schema for keyword in _OF_ARRAYS):
            node.elements = self._elements(schema, pointer)
        if any(keyword in schema for keyword in _OF_COMPLETE_VALUES) or schema.get("uniqueItems"):
            _ask_at_the_end(node)
            self._aside[node] = [self._below(schema, pointer, *at) for at in _beside(schema)]

    def _about(self) -> int:
        """The kinds of value for which the schema has keywords, wherever in it they apply."""
        kinds = 0
        todo = [(self._document.source, self._document.resolver)]
        seen = set()
        while todo:
            schema, resolver = todo.pop()
            if not isinstance(schema, dict):
                continue
            for keyword in _REFERENCES:
                reference = (resolver.base_uri, schema.get(keyword))
                if isinstance(reference[1], str) and reference not in seen:
                    seen.add(reference)
                    todo += self._document.look_up(reference[1], resolver)
            if "$ref" in schema and self._draft <= 7:
                continue
            for kind, keywords in _ABOUT.items():
                kinds |= kind if any(keyword in schema for keyword in keywords) else 0
            types = schema.get("type", ())
            for name in [types] if isinstance(types, str) else types:
                kinds |= _TYPES[name]
            if "enum" in schema or "const" in schema:
                kinds |= _kinds([*schema.get("enum", ()), schema.get("const")])
            todo += [(schema[at], resolver) for at in ("not", "if", "then", "else") if at in schema]
            for keyword in ("allOf", "anyOf", "oneOf"):
                todo += [(inner, resolver) for inner in schema.get(keyword, ())]
        return kinds

    # Types and values

    def _types(self, node: Node, schema: Schema, listed_by: str = "enum") -> None:
        """`type`, `enum` and `const`: which kinds may begin, and which need no more than that.

        `listed_by` is the rule that the values of `enum` come from.
        """
        types = schema.get("type", list(_TYPES))
        types = [types] if isinstance(types, str) else types
        kinds = 0
        for name in types:
            kinds |= INTEGER if name == "integer" and self._draft == 4 else _TYPES[name]
        rule, values = listed_by, schema.get("enum")
        if "const" in schema and self._draft > 4:
            rule, values = "const", [schema["const"]]
        node.kinds = node.natural = kinds & _kinds(values)
        node.mismatch = partial(_mismatch, types, kinds, rule, values or ())
        self._ends(node, schema, "number" in types, values is not None, listed_by)
        if values is not None:
            node.texts = tuple(sorted(value for value in values if isinstance(value, str)))
            node.text_rule = rule
            self._containers(node, rule, [v for v in values if isinstance(v, (dict, list))])

    def _ends(
        self, node: Node, schema: Schema, any_number: bool, has_values: bool, listed_by: str
    ) -> None:
        """Set what the validator is asked when a scalar is complete."""
        unsure = 0 if any_number else FRACTION
        if any(keyword in schema for keyword in _OF_STRINGS):
            unsure |= STRING
        if has_values or any(keyword in schema for keyword in _OF_NUMBERS):
            unsure |= NUMBER
        if "enum" in schema and "const" in schema:
            unsure = EVERY
        if unsure & node.kinds:
            keywords = [keyword for keyword in _OF_SCALARS if keyword in schema]
            node.end_validator = self._document.alone(
                {keyword: schema[keyword] for keyword in keywords},
                None if listed_by == "enum" else listed_by,
            )
            node.sure = EVERY & ~unsure

    def _containers(self, node: Node, rule: str, values: list[Any]) -> None:
        """The objects and arrays among the values that are allowed."""
        if len(values) > FEW:
            _ask_at_the_end(node)
        elif values:
            scalars = Node(EVERY & ~(OBJECT | ARRAY))
            exact = tuple(self._exactly(value) for value in values)
            node.choices.append(Choice(rule, (scalars, *exact)))

    def _exactly(self, value: Any) -> Node:
        """A node that nothing but this value fits."""
        node = Node(kind_of(value))
        node.mismatch = partial(_mismatch, [], EVERY, "const", (value,))
        if isinstance(value, dict):
            node.members = Members()
            node.members.closed = Refusal("const", NO_KEY)
            node.members.required = [_required(key) for key in value]
            node.members.properties = {key: (self._exactly(value[key]),) for key in value}
        elif isinstance(value, list):
            node.elements = Elements()
            node.elements.prefix = [self._exactly(inner) for inner in value]
            node.elements.minimum = node.elements.maximum = len(value)
        else:
            self._types(node, {"const": value} if self._draft > 4 else {"enum": [value]})
        return node

    def _combine(self, node: Node, schema: Schema, pointer: str | None) -> None:
        node.all += self._each(schema, pointer, "allOf")
        for keyword in ("anyOf", "oneOf"):
            values = listed(schema, keyword, self._draft)
            if values is not None:
                node.all.append(self._one_of(values, keyword))
            elif keyword in schema:
                node.choices.append(Choice(keyword, tuple(self._each(schema, pointer, keyword))))

    def _one_of(self, values: list[Any], rule: str) -> Node:
        """A node that these values fit, which were alternatives of a rule."""
        node = Node()
        node.is_described = True
        self._types(node, {"enum": values}, rule)
        return node

    def _each(self, schema: Schema, pointer: str | None, keyword: str) -> list[Node]:
        """The nodes of a list of subschemas."""
        each = range(len(schema.get(keyword, ())))
        return [self._below(schema, pointer, keyword, index) for index in each]

    # Members and elements

    def _members(self, schema: Schema, pointer: str | None) -> Members:
        members = Members()
        for key in schema.get("properties", ()):
            members.properties[key] = (self._below(schema, pointer, "properties", key),)
        for pattern in schema.get("patternProperties", ()):
            matches = self._document.alone({"pattern": pattern}).accepts
            nodes = self._below(schema, pointer, "patternProperties", pattern)
            members.patterns.append((matches, nodes))
        if schema.get("additionalProperties") is False:
            members.closed = Refusal("additionalProperties", NO_KEY)
        elif "additionalProperties" in schema:
            members.additional = self._below(schema, pointer, "additionalProperties")
        if "propertyNames" in schema and self._draft > 4 and pointer is not None:
            members.names = self._document.part(f"{pointer}/propertyNames", "propertyNames")
        members.required = [_required(key) for key in schema.get("required", ())]
        members.minimum = int(schema.get("minProperties", 0))
        if "maxProperties" in schema:
            members.maximum = int(schema["maxProperties"])
        return members

    def _elements(self, schema: Schema, pointer: str | None) -> Elements:
        elements = Elements()
        prefix, rest = "prefixItems", "items"
        if self._draft != 20:
            prefix = "items"
            rest = "additionalItems" if isinstance(schema.get("items"), list) else "items"
        if isinstance(schema.get(prefix), list):
            elements.prefix = self._each(schema, pointer, prefix)
        if schema.get(rest) is False:
            elements.closed = Refusal(rest, "no such item is allowed")
        elif rest in schema:
            elements.rest = self._below(schema, pointer, rest)
        elements.minimum = int(schema.get("minItems", 0))
        if "maxItems" in schema:
            elements.maximum = int(schema["maxItems"])
        return elements

    # Circles

    def _turns_in_circles(self) -> bool:
        """True if some subschema applies to a value only if it applies to it."""
        nodes = set(self._nodes.values())
        graph = {node: [*_applied(node), *self._aside.get(node, ())] for node in nodes}
        try:
            TopologicalSorter(graph).prepare()
        except CycleError:
            return True
        return False

    def _validate_at_the_end_only(self) -> None:
        """Leave all to the document's validator: a circle's meaning depends on its entry."""
        for node in self._nodes.values():
            if node.end_validator is node.full_validator:
                node.end_validator, node.sure = None, EVERY
            if node is not self.root:
                node.full_validator = None
            if node.members is not None:
                node.members.names = None


def _mismatch(types: list[str], kinds: int, rule: str, values: Sequence[Any], kind: int) -> Refusal:
    """The refusal of a value of this kind: by `type`, or else by the values listed."""
    if not kind & kinds:
        return Refusal("type", f"expected {' or '.join(types)} but got {named(kind)}")
    return Refusal(rule, f"no allowed value is {named(kind)}: {allowed(values)}")


def _ask_at_the_end(node: Node) -> None:
    if node.full_validator is not None:
        node.end_validator, node.sure = node.full_validator, 0
    else:
        node.is_described = False


def _kinds(values: list[Any] | None) -> int:
    """The kinds that values of a list are of: a number may be written as either."""
    if values is None:
        return EVERY
    kinds = 0
    for value in values:
        kind = kind_of(value)
        kinds |= NUMBER if kind & NUMBER else kind
    return kinds


def _required(key: str) -> tuple[frozenset[str], str]:
    return frozenset((key,)), f"{shown(key)} is missing"


def _applied(node: Node) -> Iterator[Node]:
    """The nodes that apply to the same value."""
    yield from node.all
    for choice in node.choices:
        yield from choice.nodes


def _beside(schema: Schema) -> Iterator[tuple[str, ...]]:
    """The steps to subschemas that apply to the same value under some condition."""
    for keyword in ("not", "if", "then", "else"):
        if keyword in schema:
            yield (keyword,)
    for keyword in ("dependentSchemas", "dependencies"):
        for key, inner in schema.get(keyword, {}).items():
            if not isinstance(inner, list):
                yield keyword, key
