"""A JSON Schema document as jsonschema-rs knows it: its draft, its references, its parts by place.

Here alone that library is called to make something. Nothing is ever fetched: what a schema refers
to must be inside it. A place is a JSON Pointer as it is written in the fragment of a URI.
"""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import Any, Final, NamedTuple

from .cost import Costs
from .libraries import library
from .lookup import may_look_up, unquoted, with_lookups
from .validators import MASK, JsonSchemaValidator, bounds_of

_HOME: Final = "jsonrill:///"
# Each draft with what refuses `[0]` in every later one, and says nothing in this and before.
_DRAFTS: Final[dict[int, dict[str, Any]]] = {
    4: {"const": 1},
    6: {"if": True, "then": False},
    7: {"contains": True, "minContains": 2},
    19: {"prefixItems": [False]},
}
DYNAMIC: Final = ("$dynamicRef", "$recursiveRef")
_SAFE: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~$")


class Target(NamedTuple):
    """What a reference leads to: a schema, its place if that is known, and a name."""

    schema: Any
    pointer: str | None
    name: str


class ReferencedSchema:
    """A schema that has been checked: `ValueError` for what is none."""

    def __init__(self, source: dict[str, Any] | bool) -> None:
        self._rs = library("jsonschema_rs")
        self._settings: dict[str, Any] = {"retriever": _refuse}
        self._checked(source)
        self.source = deepcopy(source)
        # What validating costs, without and with reasons.
        self.costs: dict[bool, Costs] = {}
        self._dialect = source.get("$schema") if isinstance(source, dict) else None
        self.draft = 20 if self._dialect is None else self._draft()
        # What verdicts are made with; reasons are those of the schema as it was written.
        self._looks_up = may_look_up(self.source)
        self._fast = with_lookups(self.source, self.draft) if self._looks_up else self.source
        self._has_lookups = self._fast is not self.source
        self._validator = self._masked(self._fast)
        # Inside of a dynamic scope no part means the same when it is asked alone.
        self._is_dynamic = _mentions(source, DYNAMIC)
        # References to other documents have been refused above; none is ever fetched.
        self._registry = self._registered(source)
        self._fast_registry = self._registered(self._fast) if self._has_lookups else self._registry
        self._base, self.resolver = self._start()
        # What references lead to. Each look at a schema copies it, so each is taken once.
        self._targets: dict[str, Target | None] = {}

    def whole(self) -> JsonSchemaValidator:
        """The validator of the document. Not kept here, so that both go with their last user."""
        validator = self._validator
        explain = (lambda: self._masked(self.source)) if self._has_lookups else None
        return JsonSchemaValidator(lambda: validator, None, _Part(self, ""), explain)

    def part(self, pointer: str | None, rule: str | None = None) -> JsonSchemaValidator | None:
        """The validator of the subschema at this place; None if it cannot be asked alone."""
        if pointer is None or self._is_dynamic:
            return None
        part = _Part(self, pointer)
        explain = partial(self.made_part, pointer, explain=True) if self._has_lookups else None
        return JsonSchemaValidator(part, rule, part, explain)

    def made_part(self, pointer: str, *, explain: bool = False) -> Any:
        """What validates by the subschema at this place, or explains what it refuses."""
        schema = {"$ref": f"{self._base}#{pointer}"}
        return self._made(schema, registry=self._registry if explain else self._fast_registry)

    def alone(self, schema: dict[str, Any], rule: str | None = None) -> JsonSchemaValidator:
        """The validator of a few keywords that refer to nothing.

        What none of the other keywords refuses is not among the values of a long `enum`.
        """
        fast = with_lookups(schema, self.draft)
        others = {keyword: schema[keyword] for keyword in schema if keyword != "enum"}
        explain = None if fast is schema else partial(self._made, others)
        return JsonSchemaValidator(
            partial(self._made, fast), rule, None, explain, bounds_of(schema)
        )

    def resolve(self, reference: str) -> Target | None:
        """The target of a reference; None if it is another resource, with its own references."""
        resource, _, fragment = reference.partition("#")
        is_pointer = not fragment or fragment.startswith("/")
        name = _normal(fragment) if is_pointer else "#" + fragment
        key = f"{resource}#{name}"
        if key not in self._targets:
            self._targets[key] = self._target(reference, name if is_pointer else None, name)
        return self._targets[key]

    def _target(self, reference: str, pointer: str | None, name: str) -> Target | None:
        try:
            resolved = self.resolver.lookup(reference)
        except (ValueError, self._rs.ReferencingError):
            return None
        if resolved.resolver.base_uri != self.resolver.base_uri:
            return None
        return Target(resolved.contents, pointer, name)

    def look_up(self, reference: str, resolver: Any) -> list[tuple[Any, Any]]:
        """The schema that a reference leads to, also in another resource, with its resolver."""
        try:
            resolved = resolver.lookup(reference)
        except (ValueError, self._rs.ReferencingError):
            return []
        return [(resolved.contents, resolved.resolver)]

    def prepare(self) -> None:
        """Work out what validating costs, verdicts and reasons."""
        fast = Costs(self.source, self.draft if self._looks_up else None)
        self.costs = {False: fast, True: Costs(self.source) if fast.looks_up else fast}

    def _checked(self, source: Any) -> None:
        try:
            # Without the mask, what is wrong with the schema is named.
            self._rs.validator_for(source, **self._settings)
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "message", None) or str(error)
            path = "/".join(map(str, getattr(error, "instance_path", ())))
            where = f", at {path}" if path else ""
            raise ValueError(f"not a JSON Schema: {reason}{where}") from None

    def _draft(self) -> int:
        """The draft of the dialect, by its verdicts: older versions of the library do not tell."""
        known = (draft for draft, keywords in _DRAFTS.items() if self._made(keywords).is_valid([0]))
        return next(known, 20)

    def _masked(self, source: Any) -> Any:
        return self._rs.validator_for(source, **self._settings, mask=MASK)

    def _registered(self, source: Any) -> Any:
        return self._rs.Registry([(_HOME + "root", source)], retriever=lambda uri: {})

    def _start(self) -> tuple[str, Any]:
        """The base that references are resolved against, and what resolves them."""
        source = self.source if isinstance(self.source, dict) else {}
        name = source.get("$id" if self.draft > 4 else "id")
        if isinstance(name, str) and not name.startswith("#"):
            name = name.removesuffix("#")
            for base in (name, _HOME + name.lstrip("/")):
                try:
                    resolver = self._registry.resolver(base)
                    resolver.lookup("#")
                    return base, resolver
                except (ValueError, self._rs.ReferencingError):
                    continue
        return _HOME + "root", self._registry.resolver(_HOME + "root")

    def _made(self, schema: dict[str, Any], **more: Any) -> Any:
        if self._dialect is not None:
            schema = {"$schema": self._dialect, **schema}
        return self._rs.validator_for(schema, **self._settings, mask=MASK, **more)


class _Part:
    """The subschema at one place: called, it makes the validator; `visits` is what that costs.

    One object, since a large schema has many thousand of them.
    """

    __slots__ = ("_document", "_numbers", "_pointer")

    def __init__(self, document: ReferencedSchema, pointer: str) -> None:
        self._document = document
        self._pointer = pointer
        self._numbers: dict[bool, int] = {}

    def __call__(self) -> Any:
        return self._document.made_part(self._pointer)

    def visits(
        self, value: Any, limit: int, *, explained: bool = False, counted: bool = True
    ) -> int:
        if not self._document.costs:
            self._document.prepare()
        costs = self._document.costs[explained]
        if explained not in self._numbers:
            self._numbers[explained] = costs.at(self._pointer)
        number = self._numbers[explained]
        if costs.is_cheap(number, explained=explained):
            return 0
        if not counted:
            return costs.bound(number, value, limit)
        return costs.visits(number, value, limit, remembers=not explained)


def is_resource(schema: dict[str, Any]) -> bool:
    """True if this subschema begins a resource with its own base, or even draft."""
    names = (schema.get("$id"), schema.get("id"))
    own = any(isinstance(name, str) and not name.startswith("#") for name in names)
    return own or "$schema" in schema


def token(step: str | int) -> str:
    """A step of a JSON Pointer, as it is written in the fragment of a URI."""
    text = str(step).replace("~", "~0").replace("/", "~1")
    return "".join(char if char in _SAFE else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode())


def _normal(fragment: str) -> str:
    """A pointer as `token` would have written it, so that each place has one name."""
    steps = unquoted(fragment).split("/")
    return "/".join(token(step.replace("~1", "/").replace("~0", "~")) for step in steps)


def _mentions(schema: Any, keywords: tuple[str, ...]) -> bool:
    todo = [schema]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            if any(keyword in part for keyword in keywords):
                return True
            todo += part.values()
        elif isinstance(part, list):
            todo += part
    return False


def _refuse(uri: str) -> Any:
    raise ValueError("nothing is fetched")
