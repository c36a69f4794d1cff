"""A pydantic type as nodes, read from its core schema, which is what pydantic executes.

pydantic judges complete values, in JSON mode, as `model_validate_json` does. The nodes say only
what may be shown before the end, and what lax mode refuses whatever follows. A type that is not
in the tables is shown when it is complete.

A partial instance belongs to a subclass, `Partial[Trip]`, that is made when it is first needed.
Making one runs no code of the class: no `__init__`, no validator, no `__init_subclass__`.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, Set
from copy import deepcopy
from decimal import Decimal
from enum import Enum
from functools import cached_property, partial
from typing import Any, Final, cast

from ..jsontext import dumps
from ..paths import ABSENT, Path
from .check import ANY, EVERY, UNKNOWN, Node, kind_of
from .errors import Refused, forbid_key, library, quote

Core = dict[str, Any]

_ARRAYS: Final = ("list", "set", "frozenset", "tuple")
_FIELDS: Final = ("model-fields", "dataclass-args", "typed-dict")
# The kinds that lax mode may convert to each type.
_KINDS: Final[dict[str, Set[str]]] = {
    "none": {"null"},
    **dict.fromkeys(("bool", "int", "float"), {"string", "number", "boolean"}),
    **dict.fromkeys(("decimal", "date", "time", "datetime", "timedelta"), {"string", "number"}),
    **dict.fromkeys(("str", "bytes", "uuid", "url", "multi-host-url", "json"), {"string"}),
    **dict.fromkeys(_ARRAYS, {"array"}),
    **dict.fromkeys(("dict", *_FIELDS), {"object"}),
}
# The Python types that have a zero, by their names in core schemas.
_PYTHON: Final[dict[str, type]] = {
    "decimal": Decimal,
    **{cls.__name__: cls for cls in (str, int, float, bool, bytes, list, set, frozenset, dict)},
}
# Keys of core schemas that lead to the parts of a container, and keys that add no rule to a type.
_PARTS: Final = ("items_schema", "keys_schema", "values_schema")
_NO_RULES: Final = frozenset(
    ("type", "ref", "metadata", "serialization", "strict", "fail_fast", *_PARTS)
)
_CHANGES_TEXT: Final = ("strip_whitespace", "to_lower", "to_upper")
_BEFORE: Final = frozenset(("function-before", "function-wrap"))
_FUNCTIONS: Final = _BEFORE | {"function-after"}
_CLASSES: Final = frozenset(("model", "dataclass"))
# Types that are another one, in JSON mode.
_SAME: Final = {"custom-error": "schema", "default": "schema", "json-or-python": "json_schema"}
_CACHE: Final = "__jsonrill_partial__"


def compile_type(source: Any, zeros: bool) -> Node:
    """Return the node of a type; `ValueError` if pydantic cannot validate it."""
    pydantic = library("pydantic", "pydantic", "a pydantic type")
    try:
        is_adapter = isinstance(source, pydantic.TypeAdapter)
        adapter = source if is_adapter else pydantic.TypeAdapter(source)
        # Only the pickled form of a validator has the configuration of an adapter.
        config = adapter.validator.__reduce__()[1][1] or {}
        types = Types(adapter.core_schema, zeros)
    except (pydantic.PydanticUserError, NameError) as error:
        raise ValueError(f"pydantic takes no such type: {str(error).splitlines()[0]}") from error
    return types.node(types.root, config)


class Types:
    """The core schema of one type: makes each node when it is first needed."""

    def __init__(self, core: Core, zeros: bool) -> None:
        self.zeros = zeros
        self._definitions: dict[str, Core] = {}
        # By the identities of a core schema and its configuration, which `root` keeps alive.
        self._nodes: dict[tuple[int, int], Node] = {}
        while core["type"] == "definitions":
            self._definitions.update((part["ref"], part) for part in core["definitions"])
            core = core["schema"]
        self.root = self.same(core)

    def node(self, core: Core | None, config: Core) -> Node:
        """Return the node of a core schema."""
        if core is None:
            return ANY
        core = self.same(core)
        key = (id(core), id(config))
        if key not in self._nodes:
            self._nodes[key] = self._make(core, config)
        return self._nodes[key]

    def _make(self, core: Core, config: Core) -> Node:
        if core["type"] == "any":
            return ANY
        if core is not self.root and _needs_other_fields(core):
            return UNKNOWN
        layers = [core]
        while layers[-1]["type"] in _FUNCTIONS or layers[-1]["type"] in _CLASSES:
            layers.append(self.same(layers[-1]["schema"]))
        return _NODES.get(layers[-1]["type"], TypedNode)(self, layers, config)

    def same(self, core: Core) -> Core:
        """Return the core schema that this one refers to, or is the same as."""
        while True:
            if core["type"] == "definition-ref":
                core = self._definitions[core["schema_ref"]]
            elif core["type"] in _SAME and core.get("on_error", "raise") == "raise":
                core = core[_SAME[core["type"]]]
            else:
                return core

    def validator(self, core: Core, config: Core) -> Any:
        """Return pydantic's validator of a part of the type."""
        from pydantic_core import SchemaValidator

        if core is self._definitions.get(str(core.get("ref"))):  # it may refer to itself
            core = {"type": "definition-ref", "schema_ref": core["ref"]}
        core = {"type": "definitions", "schema": core, "definitions": [*self._definitions.values()]}
        return SchemaValidator(cast(Any, core), cast(Any, config or None))


class TypedNode(Node):
    """A type; the class itself is one whose parts are not known, as a number or a date.

    `layers` are its core schemas: classes and functions around the innermost one, `inner`.
    """

    def __init__(self, types: Types, layers: list[Core], config: Core) -> None:
        Node.__init__(self)
        self._types, self._core, self.inner = types, layers[0], layers[-1]
        # The functions that make partial instances: of the model or dataclass, of a root model
        # around it.
        self.make: Callable[[Any], Any] | None = None
        self.make_root: Callable[[Any], Any] | None = None
        # Whether functions of the user see the value.
        self.has_code = False
        self.config = config
        for layer in layers:
            self.config = layer.get("config") or self.config
            if layer["type"] in _FUNCTIONS:
                self.has_code = True
            elif layer.get("root_model"):
                self.make_root = instance_maker(layer["cls"], is_root=True)
            elif layer["type"] in _CLASSES:
                self.make = instance_maker(layer["cls"])
            if layer["type"] in _BEFORE or layer.get("custom_init"):
                self.is_deferred = self.defers_children = True
        name = self.inner["type"]
        self.kinds = _KINDS.get(name, EVERY)
        if self.kinds == {"string"} and self.config.get("coerce_numbers_to_str"):
            self.kinds = {"string", "number"}
        changes = [self.inner.get(rule, self.config.get(f"str_{rule}")) for rule in _CHANGES_TEXT]
        self.shows_text = name == "str" and not self.has_code and not any(changes)
        self.is_hidden = not self.shows_text
        self.shows_children = False
        has_rules = any(key.startswith(("str_", "allow_inf")) for key in self.config)
        is_plain = len(layers) == 1 and not has_rules and _NO_RULES.issuperset(self.inner)
        # The Python type of values that pydantic neither changes nor refuses.
        self.unchanged = _PYTHON.get(name) if is_plain else None

    @cached_property
    def _validator(self) -> Any:
        return self._types.validator(self._core, self.config)

    def part(self, core: Core | None) -> Node:
        """Return the node of a part of this type."""
        return self._types.node(core, self.config)

    def choose(self, container: Any, step: str | int | None) -> Node:
        return self if kind_of(container) in self.kinds else UNKNOWN

    def child(self, step: str | int) -> Node:
        return UNKNOWN

    def finish(self, value: Any, children: list[Any] | None = None) -> Any:
        return value if type(value) is self.unchanged else self.judge(value)

    def close(self, value: Any) -> Any:
        return self.judge(value, is_whole=True)

    def judge(self, value: Any, name: str = "", is_whole: bool = False) -> Any:
        """Return what pydantic makes of a complete value.

        If code of the user raises another exception, that is its verdict on the whole, and none
        on a part: `ABSENT`.
        """
        from pydantic_core import ValidationError

        try:
            try:
                return self._validator.validate_json(dumps(value, strict=True))
            except TypeError:
                # The JSON form of a number that was read with another `parse_float` is less exact.
                self._validator.validate_json(dumps(value))
                return self._validator.validate_python(value, strict=False)
        except ValidationError as error:
            raise _explain(error, value, name) from None
        except Exception as error:
            if is_whole:
                raise Refused(type(error).__name__, f"a validator failed: {error}") from None
            return ABSENT

    def show(self, value: Any) -> Any:
        if self.is_hidden:
            return ABSENT
        return value if self.make_root is None else self.make_root(value)

    def zero(self) -> Any:
        return _PYTHON.get(self.inner["type"], type(None))()


class Listed(TypedNode):
    """A Literal or an Enum: its strings are known, other values are left to pydantic."""

    def __init__(self, types: Types, layers: list[Core], config: Core) -> None:
        TypedNode.__init__(self, types, layers, config)
        inner = self.inner
        is_literal = inner["type"] == "literal"
        values = inner["expected"] if is_literal else inner["members"]
        self.listed = [value.value if isinstance(value, Enum) else value for value in values]
        # Before 2.11, pydantic takes every value for an enum's None.
        simple = (str, int, bool, type(None)) if is_literal else (str, int, bool)
        is_simple = all(type(value) in simple for value in self.listed)
        # Code of the enum may find a member for any value.
        has_code = not is_literal and inner["cls"]._missing_.__qualname__ != "Enum._missing_"
        if not is_simple or has_code or inner.get("sub_type") in ("int", "float"):
            return
        self.kinds = {kind_of(value) for value in self.listed}
        if "number" in self.kinds or "boolean" in self.kinds:
            self.kinds = self.kinds | {"number", "boolean"}  # true equals 1, and 1.0 equals 1
        self.texts = sorted(value for value in self.listed if isinstance(value, str))
        self.text_rule = "literal_error" if is_literal else "enum"


class Container(TypedNode):
    """A list, set, frozenset, tuple or dict.

    A list is shown as it grows, and so is a dict whose keys pydantic does not change.
    """

    def __init__(self, types: Types, layers: list[Core], config: Core) -> None:
        TypedNode.__init__(self, types, layers, config)
        inner = self.inner
        name = inner["type"]
        keys = self.part(inner.get("keys_schema"))
        has_text_keys = keys is ANY or getattr(keys, "unchanged", None) is str
        self.is_hidden = self.has_code or name not in ("list", "dict") or not has_text_keys
        self.shows_children = not self.is_hidden and self.make_root is None
        self._parts: Any = inner.get("values_schema" if name == "dict" else "items_schema")

    def child(self, step: Any) -> Node:
        parts = self._parts
        if not isinstance(parts, list):
            return self.part(parts)
        # Of a tuple one element may stand for many.
        many = self.inner.get("variadic_item_index", len(parts))
        if step < many:
            return self.part(parts[step])
        return self.part(parts[many]) if many == len(parts) - 1 else UNKNOWN

    def finish(self, value: Any, children: list[Any] | None = None) -> Any:
        is_plain = not self.is_hidden and _NO_RULES.issuperset(self._core)
        return children if is_plain and children is not None else self.judge(value)


class Fields(TypedNode):
    """A model, a dataclass or a TypedDict: named fields."""

    def __init__(self, types: Types, layers: list[Core], config: Core) -> None:
        TypedNode.__init__(self, types, layers, config)
        inner = self.inner
        # A TypedDict is shown as a dict with the fields that have arrived.
        self.is_hidden = self.make is None and self.has_code
        fields = inner["fields"]
        if isinstance(fields, list):  # of a dataclass
            fields = {field["name"]: field for field in fields}
        self._fields: dict[str, Core] = {name: field["schema"] for name, field in fields.items()}
        extra = inner.get("extra_behavior") or self.config.get("extra_fields_behavior")
        self._is_closed = extra == "forbid"
        self._extra = self.part(inner.get("extras_schema")) if extra == "allow" else UNKNOWN
        # What a field is before it arrives: None, or for some names a default or a zero.
        self._absent = dict.fromkeys(self._fields)
        cores = self._fields.items()
        self._defaults = [name for name, core in cores if types.zeros or core["type"] == "default"]
        # The field of each key. Of keys that may not count in the end, as a second alias, only
        # pydantic knows what they are for.
        self._names: dict[Any, Any] = {}
        for name, field in fields.items():
            for rank, path in enumerate(_paths(name, field, self.config)):
                is_sure = rank == 0 and len(path) == 1 and path[0] not in self._names
                self._names[path[0]] = name if is_sure and field.get("init", True) else None

    def child(self, step: str | int) -> Node:
        name = self._names.get(step)
        if name is not None:
            return self.part(self._fields[name])
        if self._is_closed and step not in self._names:
            raise forbid_key("extra_forbidden", str(step), [*self._names])
        return UNKNOWN if step in self._names or step in self._fields else self._extra

    def may_be(self, container: Any, step: str | int | None) -> bool:
        """Return False if a Literal of this class says that the object belongs to another one."""
        for key in container.keys() & self._names.keys() - {step}:
            node = self.child(key)
            is_listed = node.texts is not None and node.listed and not node.is_deferred
            if is_listed and container[key] not in node.listed:
                return self.is_deferred
        return True

    def field_of(self, step: Any) -> Any:
        # An extra key that is also the name of a field is not shown.
        return self._names.get(step, None if step in self._fields else step)

    def show(self, value: Any) -> Any:
        if self.make is None:
            return TypedNode.show(self, value)
        shown, present, extra = {**self._absent, **value}, set(value), None
        if self._extra is not UNKNOWN:
            present = value.keys() & self._fields.keys()
            extra = {name: shown.pop(name) for name in value if name not in present} or None
        for name in self._defaults:
            if name not in present:
                shown[name] = self._missing(name)
        shown = self.make((shown, extra, present))
        return shown if self.make_root is None else self.make_root(shown)

    def _missing(self, name: str) -> Any:
        """Return the value of a field that has not arrived: its default, else None, or a zero."""
        schema = self._fields[name]
        if schema["type"] == "default":
            if schema.get("default_factory") and not schema.get("default_factory_takes_data"):
                return schema["default_factory"]()
            default = schema.get("default")
            return deepcopy(default) if schema.get("copy_default") else default
        while schema["type"] in _FUNCTIONS:
            schema = schema["schema"]
        return self.part(schema).zero() if self._types.zeros else None

    def zero(self) -> Any:
        return None if self.make is None else self.show({})


class Union(TypedNode):
    """Several types; nothing is shown until only one of them is possible."""

    def __init__(self, types: Types, layers: list[Core], config: Core) -> None:
        TypedNode.__init__(self, types, layers, config)
        inner = self.inner
        choices = inner.get("choices") or [inner["schema"]]
        parts = choices.values() if isinstance(choices, dict) else choices
        self._nodes = [self.part(part[0] if isinstance(part, tuple) else part) for part in parts]
        # The key that tells the types apart, if there is one, and the type of each of its values.
        tag = inner.get("discriminator")
        self._tag = tag if isinstance(tag, str) else None
        self._tags = dict(zip(choices, self._nodes, strict=True)) if self._tag is not None else {}
        if inner["type"] == "nullable":
            self._nodes.append(Node({"null"}))
        # Without a tag, the complete value decides whether an object fits one of several types.
        objects = [node for node in self._nodes if node.allows("object")]
        is_choice = self._tag is None and len(objects) > 1
        if is_choice or any(node.defers_children for node in objects):
            self.defers_children = True
        self.kinds = {kind for node in self._nodes for kind in EVERY if node.allows(kind)}
        strings = [node for node in self._nodes if node.allows("string")]
        if strings and all(node.texts is not None for node in strings):
            self.texts = sorted({text for node in strings for text in node.texts or ()})
            self.text_rule = strings[0].text_rule

    def choose(self, container: Any, step: str | int | None) -> Node:
        nodes = [node for node in self._nodes if node.allows(kind_of(container))]
        if self._tag is not None:
            tag = container.get(self._tag) if isinstance(container, dict) else None
            is_known = step != self._tag and isinstance(tag, (str, int)) and tag in self._tags
            nodes = [self._tags[tag]] if is_known else []
        elif len(nodes) > 1 and isinstance(container, dict):
            nodes = [n for n in nodes if not isinstance(n, Fields) or n.may_be(container, step)]
        # A union with a validator, or as the root of a model, is shown when it is complete.
        is_hidden = self.has_code or self.make_root is not None
        return self if is_hidden or len(nodes) != 1 else nodes[0].choose(container, step)

    def finish(self, value: Any, children: list[Any] | None = None) -> Any:
        node = self.choose(value, None)
        if children is not None and isinstance(node, Container):
            return node.finish(value, children)
        return TypedNode.finish(self, value)

    def child(self, step: str | int) -> Node:
        if step != self._tag or not all(isinstance(tag, str) for tag in self._tags):
            return UNKNOWN
        tag = Node({"string"})
        tag.texts, tag.text_rule = sorted(self._tags), "union_tag_invalid"
        return tag


_NODES: Final[dict[str, type[TypedNode]]] = {
    **dict.fromkeys(_FIELDS, Fields),
    **dict.fromkeys(("literal", "enum"), Listed),
    **dict.fromkeys(("dict", *_ARRAYS), Container),
    **dict.fromkeys(("nullable", "union", "tagged-union"), Union),
}


def _explain(error: Any, value: Any, name: str) -> Refused:
    """Return the first of pydantic's complaints."""
    first = error.errors(include_url=False, include_context=False)[0]
    message = first["msg"]
    if first["type"] == "missing":
        message = f"{quote(first['loc'][-1])} is missing"
    elif name or not isinstance(first["input"], (dict, list)) and first["type"] != "json_invalid":
        message += f", not {name or quote(first['input'])}"
    path: Path = ()
    # Only the steps that exist: a location also has the names of alternatives.
    for step in first["loc"]:
        is_index = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if is_index or isinstance(value, dict) and step in value:
            path, value = (*path, step), value[step]
    return Refused(first["type"], message).below(path)


def _needs_other_fields(core: Core) -> bool:
    """Return whether a validator inside reads `info`, in which the other fields are."""
    part: Any = core
    while isinstance(part, dict) and part["type"] not in _CLASSES:
        function = part.get("function")
        inner = part.get("schema") or part.get("items_schema") or part.get("values_schema")
        if isinstance(function, dict) and function.get("type") == "with-info":
            # A validator of a class itself has the reference of the class.
            return "ref" not in part or inner is None or inner["type"] not in _CLASSES
        part = inner
    return False


def _paths(name: str, field: Core, config: Core) -> list[list[Any]]:
    """Return the paths at which pydantic looks for the value of a field, in order."""
    alias = field.get("validation_alias")
    if alias is None or not config.get("validate_by_alias", True):
        return [[name]]
    paths = alias if isinstance(alias, list) else [[alias]]
    paths = paths if isinstance(paths[0], list) else [paths]
    by_name = config.get("validate_by_name") or config.get("populate_by_name")
    return [*paths, [name]] if by_name else list(paths)


def is_partial(value: object) -> bool:
    """Return whether this is an instance of a model or dataclass that is not complete yet."""
    return getattr(type(value), "__partial_of__", None) is not None


class PartialInstance:
    """The base of partial instances; `__partial_of__` is the class they are part of."""

    __slots__ = ()
    __partial_of__: Any = None

    def __init_subclass__(cls, **options: Any) -> None:
        """Call nothing: the classes around this one may count their subclasses."""


class PartialModel(PartialInstance):
    """A partial instance of a pydantic model, which can be dumped before it is complete."""

    __slots__ = ()

    def _set_partial_private(self, context: Any) -> None:
        attributes: dict[str, Any] = self.__private_attributes__  # type: ignore[attr-defined]
        private = {name: attributes[name].get_default() for name in attributes}
        object.__setattr__(self, "__pydantic_private__", private)

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """Dump without warnings; leave out what has not arrived if a serializer needs it."""
        return cast("dict[str, Any]", _dump(cast(Any, super()).model_dump, options))

    def model_dump_json(self, **options: Any) -> str:
        """Dump without warnings; leave out what has not arrived if a serializer needs it."""
        return cast("str", _dump(cast(Any, super()).model_dump_json, options))


def _dump(dump: Callable[..., Any], options: dict[str, Any]) -> Any:
    try:
        return dump(**{"warnings": False, **options})
    except Exception:
        return dump(**{"warnings": False, **options, "exclude_unset": True})


def _computed(cls: Any, name: str) -> property:
    """Return a computed field that is None as long as it fails."""

    def read(self: Any) -> Any:
        try:
            return getattr(super(partial_class(cls), self), name)
        except Exception:
            return None

    return property(read)


def partial_class(cls: Any) -> Any:
    """Return the class of partial instances of a class: `Partial[…]`, a subclass."""
    known = cls.__dict__.get(_CACHE)
    if known is None:
        bases = (PartialModel if hasattr(cls, "model_construct") else PartialInstance, cls)
        name = f"Partial[{cls.__name__}]"
        space = {"__module__": cls.__module__, "__qualname__": name, "__partial_of__": cls}
        space |= {name: _computed(cls, name) for name in getattr(cls, "model_computed_fields", ())}
        meta: Any = type(cls)
        # Calling the metaclass of a model would build its schema once more.
        make = ABCMeta.__new__ if issubclass(meta, ABCMeta) else type.__new__
        known = make(meta, name, bases, space)
        type.__setattr__(cls, _CACHE, known)
    return known


def instance_maker(cls: Any, is_root: bool = False) -> Callable[[Any], Any]:
    """Return a function that makes partial instances of a class.

    It takes the value of a root model, or else the fields, extra fields and names of those that
    have arrived.
    """
    cls = partial_class(cls)
    if not issubclass(cls, PartialModel):
        return partial(_make_dataclass, cls)
    from pydantic_core import SchemaValidator, core_schema

    # The last step of a validation takes a third of the time of setting the four attributes.
    post_init = "_set_partial_private" if cls.__private_attributes__ else None
    fields = core_schema.any_schema()
    core = core_schema.model_schema(cls, fields, root_model=is_root, post_init=post_init)
    return SchemaValidator(core).validate_python


def _make_dataclass(cls: Any, parts: Any) -> Any:
    instance = object.__new__(cls)
    for name, value in parts[0].items():
        object.__setattr__(instance, name, value)
    return instance
