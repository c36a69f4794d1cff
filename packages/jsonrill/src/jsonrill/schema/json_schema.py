"""A JSON Schema as nodes: `properties`, `items` and local references lead to parts, which
jsonschema-rs judges when they are complete.

All other keywords, `anyOf` and `if` among them, wait for the end of the value they stand on; of
`anyOf` and `oneOf` the kinds and strings that some alternative allows are known at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from .errors import Refusal, quote, refuse_key
from .libraries import library

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
_DATA: Final = frozenset(("default", "examples", "enum", "const"))
_LEGACY: Final = ("draft-04", "draft-06", "draft-07")


def compile_json_schema(source: Any) -> Node:
    """Return the node of a JSON Schema; `ValueError` if it is not one."""
    return JsonSchemas(source).root


class JsonSchemas:
    """One schema document: makes the node of each part when it is first needed."""

    def __init__(self, source: Any) -> None:
        self._rs = library("jsonschema_rs")
        self.source = source
        self._validator = self._compile(source)
        dialect = (
            str(source.get("$schema", "2020-12")) if isinstance(source, Mapping) else "2020-12"
        )
        self.is_legacy = any(it in dialect for it in _LEGACY)
        self.has_const = "draft-04" not in dialect
        self.has_prefix = "2020-12" in dialect
        is_known = self.is_legacy or self.has_prefix or "2019-09" in dialect
        self._nodes: dict[str, Node] = {}
        self._registry: Any = None
        if isinstance(source, bool) or not is_known or _is_entangled(source):
            self.root: Node = Judge(lambda: self._validator)
            if source is False:
                self.root.kinds = 0
            return
        home = {key: value for key, value in source.items() if key not in ("$id", "id")}
        self._registry = self._rs.Registry([(_HOME, home)], retriever=_refuse_fetch)
        self._dialect = {"$schema": source["$schema"]} if "$schema" in source else {}
        self.root = self._node("", lambda: self._validator)

    def node(self, pointer: str) -> Node:
        """Return the node of the part at a JSON Pointer."""
        return self._node(pointer, lambda: self._part(pointer))

    def _node(self, pointer: str, validator: Callable[[], Any]) -> Node:
        if pointer not in self._nodes:
            part = self.at(pointer)
            if part is True or part == {}:
                self._nodes[pointer] = ANY
            elif isinstance(part, dict) and self.is_legacy and isinstance(part.get("$ref"), str):
                target = self.target(part["$ref"])
                self._nodes[pointer] = ANY
                self._nodes[pointer] = (
                    self._node(target, validator) if target is not None else Judge(validator)
                )
            else:
                self._nodes[pointer] = JsonNode(self, pointer, part, validator)
        return self._nodes[pointer]

    def at(self, pointer: str) -> Any:
        """Return the part at a JSON Pointer; `KeyError` if there is none."""
        part = self.source
        for token in pointer.split("/")[1:]:
            token = unquote(token).replace("~1", "/").replace("~0", "~")
            part = part[int(token)] if isinstance(part, list) else part[token]
        return part

    def target(self, reference: str) -> str | None:
        """Return the pointer of a local reference; None if it leads nowhere."""
        pointer = join("", *[_unescape(it) for it in reference[1:].split("/")[1:]])
        try:
            part = self.at(pointer)
        except (KeyError, IndexError, ValueError, TypeError):
            return None
        return pointer if isinstance(part, (dict, bool)) else None

    def starts(self, part: Any, active: tuple[int, ...] = ()) -> tuple[int, list[str] | None]:
        """Return the kinds, and the strings if they are listed, that a part may allow."""
        if part is False:
            return 0, None
        if part is True or id(part) in active or not isinstance(part, dict):
            return EVERY, None
        active = (*active, id(part))
        kinds, texts = EVERY, None
        reference = part.get("$ref")
        if isinstance(reference, str):
            target = self.target(reference)
            kinds, texts = (EVERY, None) if target is None else self.starts(self.at(target), active)
            if self.is_legacy:
                return kinds, texts
        if "type" in part:
            types = part["type"] if isinstance(part["type"], list) else [part["type"]]
            kinds &= sum({_TYPES[it] for it in types})
        listed = part["enum"] if "enum" in part else None
        if "const" in part and self.has_const:
            listed = [part["const"]]
        if listed is not None:
            kinds &= sum({kind_of(it) for it in listed})
            own = {it for it in listed if isinstance(it, str)}
            texts = sorted(own if texts is None else own.intersection(texts))
        for keyword in ("anyOf", "oneOf"):
            if keyword in part:
                some, theirs = self._any(part[keyword], active)
                kinds &= some
                texts = theirs if texts is None else texts
        return kinds, texts

    def _any(self, parts: list[Any], active: tuple[int, ...]) -> tuple[int, list[str] | None]:
        kinds = 0
        texts: set[str] = set()
        is_listed = True
        for part in parts:
            its, listed = self.starts(part, active)
            kinds |= its
            if its & STRING:
                is_listed = is_listed and listed is not None
                texts.update(listed or ())
        return kinds, sorted(texts) if is_listed and kinds & STRING else None

    def _part(self, pointer: str) -> Any:
        return self._rs.validator_for(
            {**self._dialect, "$ref": f"{_HOME}#{pointer}"}, registry=self._registry, mask=_MASK
        )

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

    def __init__(
        self, schemas: JsonSchemas, pointer: str, part: Any, validator: Callable[[], Any]
    ) -> None:
        Judge.__init__(self, validator)
        self._schemas = schemas
        self._pointer = pointer
        self._part: dict[str, Any] = part if isinstance(part, dict) else {}
        self.kinds, self.texts = schemas.starts(part)
        self.natural = self.kinds
        self.text_rule = "const" if "const" in self._part else "enum"
        # The kind alone decides: nothing is left to judge.
        types = self._part.get("type")
        self._is_simple = self._part.keys() <= _ANNOTATIONS and isinstance(types, str)
        self._is_simple = self._is_simple and types != "integer"

    def refuse_kind(self, kind: int) -> Refusal:
        types = self._part.get("type")
        if types is None:
            rules = ("const", "enum", "anyOf", "oneOf", "$ref")
            rule = next((it for it in rules if it in self._part), "false")
            return Refusal("type" if rule == "$ref" else rule, f"{NAMES[kind]} is not allowed")
        names = " or ".join(types) if isinstance(types, list) else types
        return Refusal("type", f"expected {names} but got {NAMES[kind]}")

    def finish(self, value: Any, made: Any = None) -> tuple[Any, Refusal | None]:
        if self._is_simple and self.kinds & kind_of(value):
            return value, None
        return Judge.finish(self, value)

    def open(self, kind: int) -> Node:
        """Follow a reference that leads to the rules for the inside."""
        node: Node = self
        seen = set()
        while isinstance(node, JsonNode) and node not in seen:
            seen.add(node)
            reference = node._part.get("$ref")
            if not isinstance(reference, str) or not _INSIDE.isdisjoint(node._part):
                return node
            target = self._schemas.target(reference)
            node = ANY if target is None else self._schemas.node(target)
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
        return self._schemas.node(join(self._pointer, *steps))


def join(pointer: str, *steps: str) -> str:
    """Return a JSON Pointer with more steps, as it is written in the fragment of a URI."""
    for step in steps:
        pointer += "/" + percent(step.replace("~", "~0").replace("/", "~1"), safe="~")
    return pointer


def _unescape(token: str) -> str:
    return unquote(token).replace("~1", "/").replace("~0", "~")


def _is_entangled(schema: Any) -> bool:
    """Return whether parts depend on more than their own text and local references."""
    todo = list(schema.values())
    if not _ENTANGLED.isdisjoint(schema) or _is_foreign(schema.get("$ref")):
        return True
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            names = (part.get("$id"), part.get("id"), part.get("$schema"))
            if not _ENTANGLED.isdisjoint(part) or any(isinstance(it, str) for it in names):
                return True
            if _is_foreign(part.get("$ref")):
                return True
            todo += [value for key, value in part.items() if key not in _DATA]
        elif isinstance(part, list):
            todo += part
    return False


def _is_foreign(reference: Any) -> bool:
    """Return whether a reference is not a JSON Pointer into the same document."""
    return isinstance(reference, str) and reference != "#" and not reference.startswith("#/")


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
