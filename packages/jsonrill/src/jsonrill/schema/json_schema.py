"""A JSON Schema as nodes: `properties`, `items` and local references lead to parts, which
jsonschema-rs judges when they are complete.

All other keywords, `if` among them, wait for the end of the value they apply to. Of `anyOf` and
`oneOf` the kinds that some alternative allows are known at once.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final
from urllib.parse import quote as percent
from urllib.parse import unquote

from .check import ANY, Node, kind_of
from .errors import Refused, forbid_key, library, quote, shorten

_HOME: Final = "jsonrill:///schema"
# What jsonschema-rs calls the value in its messages.
_MASK: Final = "the value"
# What makes a part mean something else on its own: names and references that are not local.
_ENTANGLED: Final = re.compile(
    r'"\$(id|schema|anchor|(dynamic|recursive)(Ref|Anchor))": |"\$ref": "(?!#["/])'
)


class JsonSchemas:
    """One schema document: makes the node of each part when it is first needed.

    `ValueError` if it is not a JSON Schema.
    """

    def __init__(self, source: Any) -> None:
        self._rs = library("jsonschema_rs", "jsonschema", "a JSON Schema")
        validator = self._compile(source)
        keywords = source if isinstance(source, dict) else {}
        dialect = str(keywords.get("$schema", "2020-12"))
        self.has_prefix = "2020-12" in dialect
        # Old drafts ignore the siblings of a reference.
        self._is_old = "draft-06" in dialect or "draft-07" in dialect
        self._dialect = {"$schema": dialect} if "$schema" in keywords else {}
        home = {key: keywords[key] for key in keywords.keys() - {"$id", "$schema"}}
        is_known = self.has_prefix or self._is_old or "2019-09" in dialect
        if not is_known or _ENTANGLED.search(json.dumps(home)):
            source = {}  # leave everything to the verdict on the complete value
        else:
            resource = (_HOME, {**self._dialect, **home})
            self._registry = self._rs.Registry([resource], retriever=_refuse_fetch)
        self._source = source
        self._nodes: dict[str, Node] = {"": ANY}
        self.root = self._nodes[""] = JsonNode(self, "", validator)

    def node(self, pointer: str) -> Node:
        """Return the node of the part at a JSON Pointer."""
        if pointer not in self._nodes:
            self._nodes[pointer] = ANY  # for parts that refer to themselves
            if self.at(pointer) not in (True, {}):
                self._nodes[pointer] = JsonNode(self, pointer)
        return self._nodes[pointer]

    def at(self, pointer: str) -> Any:
        """Return the part at a JSON Pointer."""
        part = self._source
        for token in pointer.split("/")[1:]:
            step = unquote(token).replace("~1", "/").replace("~0", "~")
            part = part[int(step)] if isinstance(part, list) else part[step]
        is_alone = self._is_old and isinstance(part, dict) and isinstance(part.get("$ref"), str)
        return {"$ref": part["$ref"]} if is_alone else part

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
            raise ValueError(f"not a JSON Schema: {reason}{path and f', at {path}'}") from None


class JsonNode(Node):
    """A part of a JSON Schema."""

    def __init__(self, schemas: JsonSchemas, pointer: str, validator: Any = None) -> None:
        self._schemas, self._pointer, self._validator = schemas, pointer, validator
        part = schemas.at(pointer)
        if isinstance(part, bool):
            part = {} if part else {"enum": []}
        self._part: dict[str, Any] = part
        # What the part refers to is required, too.
        target = schemas.node(part["$ref"][1:]) if isinstance(part.get("$ref"), str) else ANY
        Node.__init__(self, target.kinds)
        self._target, self.texts, self.text_rule = target, target.texts, target.text_rule
        if "const" in part or "enum" in part:
            self.text_rule = "const" if "const" in part else "enum"
            self.listed = [part["const"]] if "const" in part else part["enum"]
            self.kinds = self.kinds & {kind_of(value) for value in self.listed}
            self.texts = sorted({value for value in self.listed if isinstance(value, str)})
        for keyword in part.keys() & {"anyOf", "oneOf"}:
            places = [f"{pointer}/{keyword}/{index}" for index in range(len(part[keyword]))]
            kinds = [schemas.node(place).kinds for place in places]
            self.kinds = self.kinds & frozenset().union(*kinds)
        if "type" in part:
            types = part["type"] if isinstance(part["type"], list) else [part["type"]]
            self.kinds = self.kinds & {"number" if name == "integer" else name for name in types}

    def finish(self, value: Any, children: list[Any] | None = None) -> Any:
        return self.judge(value)

    def judge(self, value: Any, name: str = "") -> Any:
        if self._validator is None:
            self._validator = self._schemas.validator(self._pointer)
        try:
            if not self._validator.is_valid(value):
                raise _explain(next(iter(self._validator.iter_errors(value))), name)
        except UnicodeEncodeError:
            # Lone surrogates have no UTF-8 form.
            text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
            self.judge(json.loads(text), name)
        except (ValueError, RecursionError) as error:
            raise Refused("depth", f"{_MASK} cannot be validated: {error}") from None
        return value

    def child(self, step: str | int) -> Node:
        part = self._part
        if isinstance(step, int):
            first = part.get("prefixItems", ()) if self._schemas.has_prefix else ()
            if step < len(first):
                return self._below("prefixItems", str(step))
            if isinstance(part.get("items"), (dict, bool)):
                return self._below("items")
        elif step in part.get("properties", ()):
            return self._below("properties", step)
        elif "additionalProperties" in part and "patternProperties" not in part:
            if part["additionalProperties"] is False:
                raise forbid_key("additionalProperties", step, list(part.get("properties", ())))
            return self._below("additionalProperties")
        return self._target.child(step)

    def _below(self, *steps: str) -> Node:
        tokens = [percent(step.replace("~", "~0").replace("/", "~1"), safe="~") for step in steps]
        return self._schemas.node("/".join((self._pointer, *tokens)))


def _explain(error: Any, name: str) -> Refused:
    """Return the refusal of a value about which jsonschema-rs complains."""
    message = error.message
    if name or not isinstance(error.instance, (dict, list)):
        shown = name or quote(error.instance)
        is_named = _MASK in message
        message = message.replace(_MASK, shown, 1) if is_named else f"{message}, not {shown}"
    return Refused(error.kind.name, shorten(message)).below(tuple(error.instance_path))


def _refuse_fetch(uri: str) -> Any:
    raise ValueError("nothing is fetched")
