"""A JSON Schema as nodes: `properties`, `items` and local references lead to parts, which
jsonschema-rs judges when they are complete.

All other keywords, `if` among them, wait for the end of the value they apply to. Of `anyOf` and
`oneOf` the kinds that some alternative allows are known at once.
"""

from __future__ import annotations

import json
from functools import reduce
from operator import or_
from typing import Any, Final
from urllib.parse import quote as percent
from urllib.parse import unquote

from ..paths import ABSENT
from .check import ANY, NAMES, Kind, Node, Result, kind_of
from .errors import Refusal, library, quote, refuse_key

_HOME: Final = "jsonrill:///schema"
# What jsonschema-rs calls the value in its messages, and how long a message may be.
_MASK: Final = "the value"
_LONGEST: Final = 300
_TYPES: Final = {"integer": Kind.NUMBER, **{name.split()[-1]: kind for kind, name in NAMES.items()}}
# Keywords that require nothing of a value of the right type.
_ANNOTATIONS: Final = frozenset(("type", "title", "description", "default", "examples"))
_SIMPLE: Final = [name for name in _TYPES if name != "integer"]
# With these a part does not mean the same on its own.
_ENTANGLED: Final = frozenset(
    ("$id", "id", "$schema", "$dynamicRef", "$recursiveRef", "$anchor", "$dynamicAnchor")
    + ("$recursiveAnchor",)
)
# Keywords that lead to parts, and those whose values are not schemas.
_INSIDE: Final = frozenset(("properties", "additionalProperties", "items", "prefixItems"))
_CHOICES: Final = frozenset(("anyOf", "oneOf"))
_DATA: Final = frozenset(("default", "examples", "enum", "const"))


class JsonSchemas:
    """One schema document: makes the node of each part when it is first needed.

    `ValueError` if it is not a JSON Schema.
    """

    def __init__(self, source: Any) -> None:
        self._rs = library("jsonschema_rs", "jsonschema", "a JSON Schema")
        keywords = source if isinstance(source, dict) else {}
        dialect = str(keywords.get("$schema", "2020-12"))
        self.has_prefix = "2020-12" in dialect
        # Old drafts ignore the siblings of a reference.
        self._is_old = "draft-06" in dialect or "draft-07" in dialect
        self._nodes: dict[str, Node] = {"": ANY}
        self._source = source
        root = self._nodes[""] = JsonNode(self, "", self._compile(source))
        is_known = self.has_prefix or self._is_old or "2019-09" in dialect
        if not is_known or _is_entangled(keywords):
            # Leave everything to the verdict on the complete value.
            root.inside, root.kinds, root.texts = {}, Kind.EVERY, None
        home = {key: value for key, value in keywords.items() if key not in ("$id", "id")}
        self._registry = self._rs.Registry([(_HOME, home)], retriever=_refuse_fetch)
        self._dialect = {"$schema": dialect} if "$schema" in keywords else {}

    def node(self, pointer: str) -> Node:
        """Return the node of the part at a JSON Pointer."""
        if pointer not in self._nodes:
            self._nodes[pointer] = ANY  # for alternatives that refer to themselves
            if self.at(pointer) not in (True, {}):
                self._nodes[pointer] = JsonNode(self, pointer)
        return self._nodes[pointer]

    def at(self, pointer: str) -> Any:
        """Return the part at a JSON Pointer; `LookupError` or such if there is none."""
        part = self._source
        for token in pointer.split("/")[1:]:
            step = unquote(token).replace("~1", "/").replace("~0", "~")
            part = part[int(step)] if isinstance(part, list) else part[step]
        is_alone = self._is_old and isinstance(part, dict) and isinstance(part.get("$ref"), str)
        return {"$ref": part["$ref"]} if is_alone else part

    def _target(self, part: dict[str, Any]) -> str | None:
        """Return the pointer to which the reference of a part leads; None if it has none."""
        reference = part.get("$ref")
        if not isinstance(reference, str):
            return None
        try:
            return reference[1:] if isinstance(self.at(reference[1:]), (dict, bool)) else None
        except (LookupError, ValueError, TypeError):
            return None

    def chain(self, pointer: str) -> dict[str, dict[str, Any]]:
        """Return the part at a JSON Pointer and those that its references lead to, by pointer."""
        parts: dict[str, dict[str, Any]] = {}
        target: str | None = pointer
        while target is not None and target not in parts:
            part = self.at(target)
            if isinstance(part, bool):
                part = {} if part else {"enum": []}
            parts[target] = part
            target = self._target(part)
        return parts

    def validator(self, pointer: str) -> Any:
        """Return the validator of the part at a JSON Pointer."""
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


class JsonNode(Node):
    """A part of a JSON Schema."""

    __slots__ = ("_inside_at", "_is_simple", "_pointer", "_rule", "_schemas", "_types",
                 "_validator", "inside")  # fmt: skip

    def __init__(self, schemas: JsonSchemas, pointer: str, validator: Any = None) -> None:
        Node.__init__(self)
        self._schemas, self._pointer, self._validator = schemas, pointer, validator
        chain = schemas.chain(pointer)
        # The part, after references, with the rules for the inside, and where it is.
        self.inside: dict[str, Any] = {}
        self._inside_at = pointer
        # For messages: the keyword that restricts the kinds, and the names of the types.
        self._rule, self._types = "type", ""
        for place, part in reversed(chain.items()):
            self._restrict(part, place)
            if not _INSIDE.isdisjoint(part):
                self.inside, self._inside_at = part, place
        part = chain[pointer]
        # The kind alone decides: nothing is left to judge.
        self._is_simple = _ANNOTATIONS.issuperset(part) and part.get("type") in _SIMPLE

    def _restrict(self, part: dict[str, Any], place: str) -> None:
        """Allow only the kinds and strings that a part of the schema allows."""
        listed = [part["const"]] if "const" in part else part.get("enum")
        if listed is not None:
            self.text_rule = "const" if "const" in part else "enum"
            self._rule = self.text_rule if listed else "false"
            self.kinds &= reduce(or_, map(kind_of, listed), 0)
            self.texts = sorted({value for value in listed if isinstance(value, str)})
        for keyword in _CHOICES & part.keys():
            choices = range(len(part[keyword]))
            nodes = [self._schemas.node(f"{place}/{keyword}/{choice}") for choice in choices]
            self.kinds &= reduce(or_, (node.kinds for node in nodes))
            self._rule = keyword
        if "type" in part:
            types = part["type"] if isinstance(part["type"], list) else [part["type"]]
            self.kinds &= reduce(or_, (_TYPES[name] for name in types), 0)
            self._rule, self._types = "type", " or ".join(types)

    def refuse_kind(self, kind: int) -> Refusal:
        if not self._types:
            return Refusal(self._rule, f"{NAMES[kind]} is not allowed")
        return Refusal("type", f"expected {self._types} but got {NAMES[kind]}")

    def finish(self, value: Any, made: list[Any] | None = None) -> Result:
        if self._is_simple and self.kinds & kind_of(value):
            return value, None
        if self._validator is None:
            self._validator = self._schemas.validator(self._pointer)
        try:
            is_valid = self._validator.is_valid(value)
            return (value, None) if is_valid else (ABSENT, self._explain(value))
        except UnicodeEncodeError:
            return value, self.finish(_without_surrogates(value))[1]
        except (ValueError, RecursionError) as error:
            return ABSENT, Refusal("depth", f"{_MASK} cannot be validated: {error}")

    def _explain(self, value: Any) -> Refusal:
        """Return the first complaint of jsonschema-rs."""
        error = next(iter(self._validator.iter_errors(value)))
        rule, message = error.kind.name, error.message
        if rule == "falseSchema":
            is_key = "additionalProperties" in error.schema_path[-1:]
            rule = "additionalProperties" if is_key else "false"
        if not isinstance(error.instance, (dict, list)):
            shown = quote(error.instance)
            is_named = _MASK in message
            message = message.replace(_MASK, shown, 1) if is_named else f"{message}, not {shown}"
        message = message if len(message) <= _LONGEST else message[:_LONGEST] + "…"
        return Refusal(rule, message, tuple(error.instance_path))

    def child(self, step: str | int) -> Node | Refusal:
        part = self.inside
        if isinstance(step, int):
            first = part.get("prefixItems", ()) if self._schemas.has_prefix else ()
            if step < len(first):
                return self._below("prefixItems", str(step))
            return self._below("items") if isinstance(part.get("items"), (dict, bool)) else ANY
        if step in part.get("properties", ()):
            return self._below("properties", step)
        if "patternProperties" in part or "additionalProperties" not in part:
            return ANY
        if part["additionalProperties"] is False:
            return refuse_key("additionalProperties", step, list(part.get("properties", ())))
        return self._below("additionalProperties")

    def _below(self, *steps: str) -> Node:
        tokens = [percent(step.replace("~", "~0").replace("/", "~1"), safe="~") for step in steps]
        return self._schemas.node("/".join((self._inside_at, *tokens)))


def _is_entangled(schema: dict[str, Any]) -> bool:
    """Return whether parts depend on more than their own text and local references."""
    todo: list[Any] = [{key: schema[key] for key in schema.keys() - {"$id", "id", "$schema"}}]
    while todo:
        part = todo.pop()
        if isinstance(part, list):
            todo += part
        elif isinstance(part, dict):
            # A property may have the name of a keyword: then its value is a schema.
            names = [key for key in _ENTANGLED & part.keys() if not isinstance(part[key], dict)]
            reference = part.get("$ref", "#")
            if names or isinstance(reference, str) and reference[:2] not in ("#", "#/"):
                return True
            todo += [value for key, value in part.items() if key not in _DATA]
    return False


def _refuse_fetch(uri: str) -> Any:
    raise ValueError("nothing is fetched")


def _without_surrogates(value: Any) -> Any:
    """Return the value with U+FFFD for lone surrogates, which have no UTF-8 form."""
    text = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
    return json.loads(text.decode("utf-16", "replace"))
