"""A JSON Schema as nodes: `properties`, `items` and local references lead to parts, which
jsonschema-rs judges when they are complete.

All other keywords, `anyOf` and `if` among them, wait for the end of the value they stand on; of
`anyOf` and `oneOf` the kinds and strings that some alternative allows are known at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote as percent
from urllib.parse import unquote

from ..paths import ABSENT
from .early import (
    ANY,
    ARRAY,
    BOOLEAN,
    EVERY,
    NAMES,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    Node,
    kind_of,
)
from .errors import Refusal, library, quote, refuse_key

_HOME: Final = "jsonrill:///schema"
# What jsonschema-rs calls the value in its messages, and how long a message may be.
_MASK: Final = "the value"
_LONGEST: Final = 300
_TYPES: Final = {
    "null": NULL,
    "boolean": BOOLEAN,
    "integer": NUMBER,
    "number": NUMBER,
    "string": STRING,
    "array": ARRAY,
    "object": OBJECT,
}
# Keywords that require nothing of a value of the right type.
_ANNOTATIONS: Final = frozenset(
    ("type", "title", "description", "default", "examples", "$schema", "$id", "$defs")
    + ("definitions", "$comment", "deprecated", "readOnly", "writeOnly")
)
# With these a part does not mean the same on its own.
_ENTANGLED: Final = frozenset(
    ("$dynamicRef", "$recursiveRef", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary")
)
# Keywords that lead to parts, and those whose values are not schemas.
_INSIDE: Final = frozenset(
    ("properties", "additionalProperties", "items", "prefixItems", "additionalItems")
)
_KIND_RULES: Final = ("const", "enum", "anyOf", "oneOf", "$ref")
_DATA: Final = frozenset(("default", "examples", "enum", "const"))
_LEGACY: Final = ("draft-04", "draft-06", "draft-07")


def compile_json_schema(source: Any) -> tuple[Node, Callable[[Any], Any]]:
    """Return the node of a JSON Schema, and what judges a complete value.

    `ValueError` if it is not a JSON Schema.
    """
    root = JsonSchemas(source).root
    return root, root.finish


class JsonSchemas:
    """One schema document: makes the node of each part when it is first needed."""

    def __init__(self, source: Any) -> None:
        self._rs = library("jsonschema_rs", "jsonschema", "a JSON Schema")
        self.source = source
        validator = self._compile(source)
        self._nodes: dict[str, Node] = {}
        keywords = source if isinstance(source, Mapping) else {}
        dialect = str(keywords.get("$schema", "2020-12"))
        self.is_legacy = any(it in dialect for it in _LEGACY)
        self.has_const = "draft-04" not in dialect
        self.has_prefix = "2020-12" in dialect
        is_known = self.is_legacy or self.has_prefix or "2019-09" in dialect
        if not isinstance(source, Mapping) or not is_known or _is_entangled(source):
            self.root: Node = Judge(lambda: validator)
            self.root.kinds = 0 if source is False else EVERY
            return
        home = {key: value for key, value in source.items() if key not in ("$id", "id")}
        self._registry = self._rs.Registry([(_HOME, home)], retriever=_refuse_fetch)
        self._dialect = {"$schema": source["$schema"]} if "$schema" in source else {}
        self.root = self._nodes[""] = JsonNode(self, "", lambda: validator)

    def node(self, pointer: str) -> Node:
        """Return the node of the part at a JSON Pointer."""
        if pointer not in self._nodes:
            is_true = self.at(pointer) in (True, {})
            make = ANY if is_true else JsonNode(self, pointer, lambda: self._validator(pointer))
            self._nodes[pointer] = make
        return self._nodes[pointer]

    def at(self, pointer: str) -> Any:
        """Return the part at a JSON Pointer; `LookupError` or such if there is none."""
        part = self.source
        for token in pointer.split("/")[1:]:
            step = unquote(token).replace("~1", "/").replace("~0", "~")
            part = part[int(step)] if isinstance(part, list) else part[step]
        # Old drafts ignore what is beside a reference.
        is_alone = self.is_legacy and isinstance(part, dict) and isinstance(part.get("$ref"), str)
        return {"$ref": part["$ref"]} if is_alone else part

    def target(self, part: Mapping[str, Any]) -> str | None:
        """Return the pointer to which the reference of a part leads; None if it has none."""
        reference = part.get("$ref")
        if not isinstance(reference, str):
            return None
        try:
            target = self.at(reference[1:])
        except (LookupError, ValueError, TypeError):
            return None
        return reference[1:] if isinstance(target, (dict, bool)) else None

    def starts(self, part: Any, around: tuple[str, ...] = ()) -> tuple[int, set[str] | None]:
        """Return the kinds, and the strings if they are listed, that a part may allow.

        `around` are the references that led here.
        """
        if not isinstance(part, dict):
            return (0 if part is False else EVERY), None
        kinds, texts = EVERY, None
        target = self.target(part)
        if target is not None and target not in around:
            kinds, texts = self.starts(self.at(target), (*around, target))
        if self.is_legacy and isinstance(part.get("$ref"), str):
            return kinds, texts
        if "type" in part:
            types = part["type"] if isinstance(part["type"], list) else [part["type"]]
            kinds &= sum({_TYPES[it] for it in types})
        listed = part.get("enum")
        if "const" in part and self.has_const:
            listed = [part["const"]]
        if listed is not None:
            kinds &= sum({kind_of(it) for it in listed})
            texts = {it for it in listed if isinstance(it, str)}
        for keyword in ("anyOf", "oneOf"):
            some = [self.starts(it, around) for it in part.get(keyword, ())]
            if some:
                kinds &= _union(it[0] for it in some)
                strings = [it[1] for it in some if it[0] & STRING]
                if texts is None and strings and all(it is not None for it in strings):
                    texts = {text for it in strings for text in it or ()}
        return kinds, texts

    def _validator(self, pointer: str) -> Any:
        reference = {**self._dialect, "$ref": f"{_HOME}#{pointer}"}
        return self._rs.validator_for(reference, registry=self._registry, mask=_MASK)

    def _compile(self, source: Any) -> Any:
        try:
            # Without a mask first: then the message names what is wrong with the schema.
            self._rs.validator_for(source, retriever=_refuse_fetch)
            return self._rs.validator_for(source, retriever=_refuse_fetch, mask=_MASK)
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "message", None) or str(error)
            path = "/".join(map(str, getattr(error, "instance_path", ())))
            where = f", at {path}" if path else ""
            raise ValueError(f"not a JSON Schema: {reason}{where}") from None


class Judge(Node):
    """A schema about which nothing is known but the verdict on a complete value."""

    __slots__ = ("_make", "_made")

    def __init__(self, make: Callable[[], Any]) -> None:
        Node.__init__(self)
        self._make = make
        self._made: Any = None

    def refuse_kind(self, kind: int) -> Refusal:
        return Refusal("false", f"{NAMES[kind]} is not allowed")

    def finish(self, value: Any, made: Any = None) -> tuple[Any, Refusal | None]:
        if self._made is None:
            self._made = self._make()
        try:
            if self._made.is_valid(value):
                return value, None
            return ABSENT, self._explain(value)
        except UnicodeEncodeError:
            return value, self.finish(_without_surrogates(value))[1]
        except (ValueError, RecursionError) as error:
            return ABSENT, Refusal("depth", f"{_MASK} cannot be validated: {error}")

    def _explain(self, value: Any) -> Refusal:
        for error in self._made.iter_errors(value):
            rule = error.kind.name
            if rule == "falseSchema":
                is_key = "additionalProperties" in error.schema_path[-1:]
                rule = "additionalProperties" if is_key else "false"
            message = error.message
            if not isinstance(error.instance, (dict, list)):
                shown = quote(error.instance)
                is_named = _MASK in message
                message = (
                    message.replace(_MASK, shown, 1) if is_named else f"{message}, not {shown}"
                )
            if len(message) > _LONGEST:
                message = message[:_LONGEST] + "…"
            return Refusal(rule, message, tuple(error.instance_path))
        return Refusal("schema", "the schema does not allow this value")


class JsonNode(Judge):
    """A part of a JSON Schema."""

    __slots__ = ("_is_simple", "_part", "_pointer", "_schemas")

    def __init__(self, schemas: JsonSchemas, pointer: str, validator: Callable[[], Any]) -> None:
        Judge.__init__(self, validator)
        part = schemas.at(pointer)
        self._schemas = schemas
        self._pointer = pointer
        self._part: dict[str, Any] = part if isinstance(part, dict) else {}
        self.kinds, texts = schemas.starts(part)
        self.texts = None if texts is None else sorted(texts)
        self.text_rule = "const" if "const" in self._part else "enum"
        # The kind alone decides: nothing is left to judge.
        is_kind = isinstance(self._part.get("type"), str) and self._part["type"] != "integer"
        self._is_simple = is_kind and self._part.keys() <= _ANNOTATIONS

    def refuse_kind(self, kind: int) -> Refusal:
        types = self._part.get("type")
        if types is None:
            rule = next((it for it in _KIND_RULES if it in self._part), "false")
            return Refusal("type" if rule == "$ref" else rule, f"{NAMES[kind]} is not allowed")
        names = " or ".join(types) if isinstance(types, list) else types
        return Refusal("type", f"expected {names} but got {NAMES[kind]}")

    def finish(self, value: Any, made: Any = None) -> tuple[Any, Refusal | None]:
        is_valid = self._is_simple and self.kinds & kind_of(value)
        return (value, None) if is_valid else Judge.finish(self, value)

    def choose(self, container: Any, step: str | int | None) -> Node:
        """Follow references to the rules for the inside."""
        node: Node = self
        seen = set()
        while isinstance(node, JsonNode) and node not in seen and _INSIDE.isdisjoint(node._part):
            seen.add(node)
            target = self._schemas.target(node._part)
            node = node if target is None else self._schemas.node(target)
        return node

    def child(self, step: str | int) -> Node | Refusal:
        return self._element(step) if isinstance(step, int) else self._member(step)

    def _member(self, key: str) -> Node | Refusal:
        part = self._part
        properties = part.get("properties", {})
        if key in properties:
            return self._below("properties", key)
        if "patternProperties" in part or "additionalProperties" not in part:
            return ANY
        if part["additionalProperties"] is False:
            return refuse_key("additionalProperties", key, list(properties))
        return self._below("additionalProperties")

    def _element(self, index: int) -> Node:
        part = self._part
        keyword = "prefixItems" if self._schemas.has_prefix else "items"
        rest = "items" if self._schemas.has_prefix else "additionalItems"
        first = part.get(keyword, ())
        if isinstance(first, (dict, bool)):
            return self._below(keyword)
        if index < len(first):
            return self._below(keyword, str(index))
        return self._below(rest) if rest in part and (first or self._schemas.has_prefix) else ANY

    def _below(self, *steps: str) -> Node:
        tokens = [percent(it.replace("~", "~0").replace("/", "~1"), safe="~") for it in steps]
        return self._schemas.node("/".join((self._pointer, *tokens)))


def _union(kinds: Iterable[int]) -> int:
    union = 0
    for kind in kinds:
        union |= kind
    return union


def _is_entangled(schema: Any) -> bool:
    """Return whether parts depend on more than their own text and local references."""
    todo = [{key: it for key, it in schema.items() if key not in ("$id", "id", "$schema")}]
    while todo:
        part = todo.pop()
        if isinstance(part, list):
            todo += part
        elif isinstance(part, dict):
            reference = part.get("$ref", "#")
            names = (part.get("$id"), part.get("id"), part.get("$schema"))
            is_local = not isinstance(reference, str) or reference[:2] in ("#", "#/")
            if not is_local or not _ENTANGLED.isdisjoint(part):
                return True
            if any(isinstance(it, str) for it in names):
                return True
            todo += [value for key, value in part.items() if key not in _DATA]
    return False


def _refuse_fetch(uri: str) -> Any:
    raise ValueError("nothing is fetched")


def _without_surrogates(value: Any) -> Any:
    """Return the value with U+FFFD for lone surrogates, which have no UTF-8 form."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
    return value
