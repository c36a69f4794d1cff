"""A pydantic type as nodes, read from its core schema, which is what pydantic executes.

pydantic judges complete values, in JSON mode, as `model_validate_json` does. The nodes say only
what may be shown before the end, and what lax mode refuses whatever follows. A type that is not
in the tables is shown when it is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy, deepcopy
from decimal import Decimal
from enum import Enum
from functools import reduce
from operator import or_
from typing import Any, Final

from ..jsontext import dumps
from ..paths import ABSENT, Path
from .early import ANY, NAMES, UNKNOWN, Kind, Node, Unknown, kind_of
from .errors import Refusal, library, quote, refuse_key
from .partials import partial_dataclass, partial_model

Core = dict[str, Any]

_TIMES: Final = ("date", "time", "datetime", "timedelta")
_ARRAYS: Final = ("list", "set", "frozenset", "tuple")
# The kinds that lax mode may convert to each type.
_KINDS: Final = {
    "none": Kind.NULL,
    **dict.fromkeys(("bool", "int", "float"), Kind.STRING | Kind.NUMBER | Kind.BOOLEAN),
    **dict.fromkeys(("decimal", *_TIMES), Kind.STRING | Kind.NUMBER),
    **dict.fromkeys(("str", "bytes", "uuid", "url", "multi-host-url", "json"), Kind.STRING),
    **dict.fromkeys(_ARRAYS, Kind.ARRAY),
    **dict.fromkeys(("dict", "model", "dataclass", "typed-dict"), Kind.OBJECT),
}
# The Python types that pydantic returns unchanged, and the zeros.
_UNCHANGED: Final[dict[str, type]] = {"str": str, "int": int, "float": float, "bool": bool}
_ZEROS: Final[dict[str, type]] = {
    **{zero.__name__: zero for zero in (str, int, float, bool, bytes, list, set, frozenset, dict)},
    "decimal": Decimal,
}
# Keys of core schemas that add no rule to a type.
_NO_RULES: Final = frozenset(
    ("type", "ref", "metadata", "serialization", "strict", "items_schema", "fail_fast")
)
_CHANGES_TEXT: Final = ("strip_whitespace", "to_lower", "to_upper")
_FIELDS: Final = frozenset(("model-fields", "dataclass-args", "typed-dict"))
_FUNCTIONS: Final = frozenset(("function-before", "function-wrap", "function-after"))
# Types that are another one, in JSON mode.
_SAME: Final = {"custom-error": "schema", "default": "schema", "json-or-python": "json_schema"}
# A value of each kind.
_SAMPLES: Final[dict[int, Any]] = dict(zip(NAMES, (None, True, 0, "", [], {}), strict=True))


def compile_type(source: Any, zeros: bool) -> tuple[Node, Callable[[Any], Any]]:
    """Return the node of a type, and what validates a complete value of it.

    `ValueError` if pydantic cannot validate the type.
    """
    pydantic = library("pydantic", "pydantic", "a pydantic type")
    try:
        is_adapter = isinstance(source, pydantic.TypeAdapter)
        adapter = source if is_adapter else pydantic.TypeAdapter(source)
        # Only the pickled form of a validator has the configuration of an adapter.
        config = adapter.validator.__reduce__()[1][1] or {}
        types = Types(adapter.core_schema, zeros)
    except (pydantic.PydanticUserError, NameError) as error:
        raise ValueError(f"pydantic takes no such type: {str(error).splitlines()[0]}") from error
    return types.node(types.root, config), lambda value: judge(adapter, value, is_whole=True)


class Types:
    """The core schema of one type: makes each node when it is first needed."""

    def __init__(self, core: Core, zeros: bool) -> None:
        self.zeros = zeros
        self.definitions: dict[str, Core] = {}
        # By identity, with what each was made of, so that identities stay unique.
        self._nodes: dict[tuple[int, int], tuple[Node, Core, Core]] = {}
        while core["type"] == "definitions":
            self.definitions.update((part["ref"], part) for part in core["definitions"])
            core = core["schema"]
        self.root = core

    def node(self, core: Core | None, config: Core) -> Node:
        """Return the node of a core schema."""
        if core is None:
            return ANY
        key = (id(core), id(config))
        if key not in self._nodes:
            self._nodes[key] = (self._make(core, config), core, config)
        return self._nodes[key][0]

    def _make(self, core: Core, config: Core) -> Node:
        if _needs_other_fields(core):
            return UNKNOWN
        name = core["type"]
        if name == "any":
            return ANY
        if name == "definition-ref":
            return self.node(self.definitions.get(core["schema_ref"]), config)
        if name in _SAME and core.get("on_error", "raise") == "raise":
            return self.node(core[_SAME[name]], config)
        if name in _FUNCTIONS:
            return self._validated(core, config, core["schema"], name != "function-after")
        if name in ("model", "dataclass", "typed-dict"):
            return self._class(core, core.get("config") or config)
        return _NODES.get(name, TypedNode)(self, core, config)

    def _class(self, core: Core, config: Core) -> Node:
        inner = core if core["type"] == "typed-dict" else core["schema"]
        is_changed = bool(core.get("custom_init"))
        while inner["type"] in _FUNCTIONS:
            is_changed = is_changed or inner["type"] != "function-after"
            inner = inner["schema"]
        if core.get("root_model"):
            return self._validated(core, config, inner, is_changed)
        if inner["type"] not in _FIELDS:
            return TypedNode(self, core, config)
        fields = Fields(self, core, config, inner)
        return fields.around(core, is_changed=True) if is_changed else fields

    def _validated(self, core: Core, config: Core, inner: Core, is_changed: bool) -> Node:
        """Return the node of a type with code of the user around, or of a root model.

        With `is_changed`, the code sees the value before pydantic.
        """
        node = self.node(inner, config)
        if not isinstance(node, TypedNode):
            return TypedNode(self, core, config)
        around = node.around(core, is_changed)
        if core.get("root_model"):
            around.root_of = core["cls"]
        elif not isinstance(node, Fields) or node.cls is None:
            around.is_hidden = True
        return around

    def validator(self, core: Core, config: Core) -> Any:
        """Return pydantic's validator of a part of the type."""
        from pydantic_core import SchemaValidator

        if self.definitions:
            if core is self.definitions.get(str(core.get("ref"))):  # it may refer to itself
                core = {"type": "definition-ref", "schema_ref": core["ref"]}
            definitions = [*self.definitions.values()]
            core = {"type": "definitions", "schema": core, "definitions": definitions}
        settings: Any = config or None
        return SchemaValidator(core, settings)


class TypedNode(Node):
    """A type; the class itself is one whose parts are not known, as a number or a date."""

    __slots__ = ("_grows", "_shape", "_unchanged", "_validator", "config", "core", "is_hidden",
                 "root_of", "types")  # fmt: skip

    def __init__(self, types: Types, core: Core, config: Core) -> None:
        name = core["type"]
        Node.__init__(self, _KINDS.get(name, Kind.EVERY))
        # The kind of container whose inside this node knows.
        self._shape = self.kinds
        self.types, self.core, self.config = types, core, config
        # True if the value is shown when it is complete.
        self.is_hidden = False
        # The class of a root model.
        self.root_of: Any = None
        self._validator: Any = None
        if self.kinds == Kind.STRING and config.get("coerce_numbers_to_str"):
            self.kinds |= Kind.NUMBER
        changes = any(core.get(rule, config.get(f"str_{rule}")) for rule in _CHANGES_TEXT)
        self._grows = name == "str" and not changes
        has_rules = any(key.startswith(("str_", "allow_inf")) for key in config)
        # The Python type of values that pydantic neither changes nor refuses.
        self._unchanged = (
            None if has_rules or not _NO_RULES.issuperset(core) else _UNCHANGED.get(name)
        )

    def around(self, core: Core, is_changed: bool) -> TypedNode:
        """Return this node as part of another core schema, which judges its complete values.

        With `is_changed`, nothing is refused early, because other code may change the value first.
        """
        node = copy(self)
        node.core, node._validator, node._unchanged = core, None, None
        if is_changed:
            node.is_certain, node.kinds, node.texts = False, Kind.EVERY, None
        return node

    @property
    def validator(self) -> Any:
        if self._validator is None:
            self._validator = self.types.validator(self.core, self.config)
        return self._validator

    def part(self, core: Core | None) -> Node:
        """Return the node of a part of this type."""
        return self.types.node(core, self.config)

    def refuse_kind(self, kind: int) -> Refusal:
        refusal = judge(self.validator, _SAMPLES[kind], NAMES[kind])[1]
        return Node.refuse_kind(self, kind) if refusal is None else refusal._replace(path=())

    def choose(self, container: Any, step: str | int | None) -> Node:
        return self if self._shape & kind_of(container) else UNKNOWN

    def child(self, step: str | int) -> Node | Refusal:
        return UNKNOWN

    def finish(self, value: Any, made: list[Any] | None = None) -> tuple[Any, Refusal | None]:
        return (value, None) if type(value) is self._unchanged else judge(self.validator, value)

    def grow(self, text: str) -> Any:
        return self.wrap(text) if self._grows else ABSENT

    def show(self, children: Any) -> Any:
        return ABSENT

    def wrap(self, shown: Any) -> Any:
        if self.is_hidden or shown is ABSENT:
            return ABSENT
        root_of = self.root_of
        return shown if root_of is None else partial_model(root_of, {"root": shown}, {"root"})

    def zero(self, around: tuple[Any, ...] = ()) -> Any:
        make = _ZEROS.get(self.core["type"])
        return None if make is None else make()


class Listed(TypedNode):
    """A Literal or an Enum: its strings are known, other values are left to pydantic."""

    __slots__ = ("values",)

    def __init__(self, types: Types, core: Core, config: Core) -> None:
        TypedNode.__init__(self, types, core, config)
        values = core["expected"] if core["type"] == "literal" else core["members"]
        self.values = [value.value if isinstance(value, Enum) else value for value in values]
        is_simple = all(type(value) in (str, int, bool, type(None)) for value in self.values)
        if not is_simple or core.get("missing") or core.get("sub_type") in ("int", "float"):
            return
        # true equals 1, and 1.0 equals 1.
        number = Kind.NUMBER | Kind.BOOLEAN
        kinds = [number if isinstance(value, int) else kind_of(value) for value in self.values]
        coerced = Kind.NUMBER if config.get("coerce_numbers_to_str") else 0
        self.kinds = reduce(or_, kinds, coerced)
        self.texts = sorted(value for value in self.values if isinstance(value, str))
        self.text_rule = "literal_error" if core["type"] == "literal" else "enum"

    def finish(self, value: Any, made: list[Any] | None = None) -> tuple[Any, Refusal | None]:
        result, refusal = judge(self.validator, value)
        return result, refusal and refusal._replace(allowed=tuple(self.values))


class Items(TypedNode):
    """A list, set, frozenset or tuple; all but a list are shown when they are complete."""

    __slots__ = ("_first", "_rest")

    def __init__(self, types: Types, core: Core, config: Core) -> None:
        TypedNode.__init__(self, types, core, config)
        self.is_hidden = core["type"] != "list"
        # The types of the first elements, and of the others; None if it is not known.
        self._first: list[Core] = []
        self._rest: Core | None = core.get("items_schema", {"type": "any"})
        if isinstance(self._rest, list):
            many = core.get("variadic_item_index")
            is_last = many == len(self._rest) - 1
            self._first, self._rest = self._rest[:many], self._rest[-1] if is_last else None

    def child(self, step: str | int) -> Node | Refusal:
        assert isinstance(step, int)
        if step < len(self._first):
            return self.part(self._first[step])
        return UNKNOWN if self._rest is None else self.part(self._rest)

    def finish(self, value: Any, made: list[Any] | None = None) -> tuple[Any, Refusal | None]:
        is_plain = not self.is_hidden and _NO_RULES.issuperset(self.core)
        if is_plain and made is not None and not any(item is ABSENT for item in made):
            return made, None
        return judge(self.validator, value)

    def show(self, children: Any) -> Any:
        return children


class Members(TypedNode):
    """A dict; if its keys are not plain strings it is shown when it is complete."""

    __slots__ = ("_values",)

    def __init__(self, types: Types, core: Core, config: Core) -> None:
        TypedNode.__init__(self, types, core, config)
        self._values: Core | None = core.get("values_schema")
        keys = core.get("keys_schema") or {"type": "any"}
        self.is_hidden = keys["type"] not in ("any", "str") or not _NO_RULES.issuperset(keys)

    def child(self, step: str | int) -> Node | Refusal:
        return self.part(self._values)

    def show(self, children: Any) -> Any:
        return children


class Fields(TypedNode):
    """A model, a dataclass or a TypedDict: named fields."""

    __slots__ = ("_closed", "_extra", "_fields", "_names", "cls")

    def __init__(self, types: Types, core: Core, config: Core, inner: Core) -> None:
        TypedNode.__init__(self, types, core, config)
        # A TypedDict is shown as a dict with the keys that have come.
        self.cls = None if core["type"] == "typed-dict" else core["cls"]
        is_call = inner["type"] == "dataclass-args"
        fields = inner["fields"]
        self._fields: dict[str, Core] = {f["name"]: f for f in fields} if is_call else fields
        extra = inner.get("extra_behavior") or config.get("extra_fields_behavior")
        rule = "unexpected_keyword_argument" if is_call else "extra_forbidden"
        self._closed = rule if extra == "forbid" else ""
        self._extra = self.part(inner.get("extras_schema")) if extra == "allow" else UNKNOWN
        # The field of each key. Of keys that may not count in the end, as a second alias, only
        # pydantic knows what they are for.
        self._names: dict[Any, str | None] = {}
        for name, field in self._fields.items():
            for rank, path in enumerate(_paths(name, field, config)):
                is_sure = rank == 0 and len(path) == 1 and path[0] not in self._names
                self._names[path[0]] = name if is_sure and field.get("init", True) else None

    def child(self, step: str | int) -> Node | Refusal:
        name = self._names.get(step)
        if name is not None:
            return self.part(self._fields[name]["schema"])
        if step in self._names or not self._closed:
            return UNKNOWN if step in self._names else self._extra
        return refuse_key(self._closed, str(step), [*self._names])

    def may_be(self, container: Any, step: str | int | None) -> bool:
        """Return False if a Literal of this class says that the object belongs to another one."""
        keys = [key for key in container if key != step and key in self._names]
        listed = [(container[key], self.child(key)) for key in keys]
        return all(
            not isinstance(node, Listed) or node.texts is None or value in node.values
            for value, node in listed
        )

    def show(self, children: Any) -> Any:
        values: dict[str, Any] = {}
        extra: dict[str, Any] = {}
        for key, value in children.items():
            name = self._names.get(key)
            if name is None:
                extra[key] = value
            else:
                values[name] = value
        return {**values, **extra} if self.cls is None else self._instance(values, extra)

    def _instance(self, values: dict[str, Any], extra: Any, around: tuple[Any, ...] = ()) -> Any:
        """Return a partial instance, in which fields that have not come are as `_missing` says."""
        shown = {
            name: values[name] if name in values else self._missing(field["schema"], around)
            for name, field in self._fields.items()
        }
        if hasattr(self.cls, "model_construct"):
            return partial_model(self.cls, shown, set(values), extra or None)
        return partial_dataclass(self.cls, shown)

    def _missing(self, schema: Core, around: tuple[Any, ...]) -> Any:
        """Return the value of a field that has not come: its default, else None, or a zero."""
        if schema["type"] == "default":
            factory, default = schema.get("default_factory"), schema.get("default")
            if factory is not None and not schema.get("default_factory_takes_data"):
                return factory()
            return deepcopy(default) if schema.get("copy_default") else default
        while schema["type"] in _FUNCTIONS:
            schema = schema["schema"]
        return self.part(schema).zero((*around, self.cls)) if self.types.zeros else None

    def field_names(self, keys: Iterable[str]) -> dict[str, str]:
        return {key: name for key in keys if (name := self._names.get(key)) is not None}

    def zero(self, around: tuple[Any, ...] = ()) -> Any:
        if self.cls is None or self.cls in around:
            return None
        return self._instance({}, None, around)


class Tag(Unknown):
    """The key that tells the types of a union apart."""

    __slots__ = ()

    def __init__(self, texts: Iterable[str]) -> None:
        Unknown.__init__(self, Kind.STRING, sorted(texts))
        self.text_rule = "union_tag_invalid"

    def finish(self, value: Any, made: list[Any] | None = None) -> tuple[Any, Refusal | None]:
        return ABSENT, self.refuse_start(value)


class Union(TypedNode):
    """Several types, of which one is left sooner or later; until then nothing is shown."""

    __slots__ = ("_nodes", "_tag", "_tags")

    def __init__(self, types: Types, core: Core, config: Core) -> None:
        TypedNode.__init__(self, types, core, config)
        # The key that tells the types apart, if there is one, and the type of each of its values.
        self._tag: str | None = None
        self._tags: dict[Any, Node] = {}
        if core["type"] == "nullable":
            self._nodes = [Node(Kind.NULL), self.part(core["schema"])]
        elif core["type"] == "union":
            choices = [item[0] if isinstance(item, tuple) else item for item in core["choices"]]
            self._nodes = [self.part(choice) for choice in choices]
        else:
            choices = core["choices"].items()
            self._tags = {tag: self.part(part) for tag, part in choices if isinstance(part, dict)}
            self._nodes = list(self._tags.values())
            if isinstance(core["discriminator"], str):
                self._tag = core["discriminator"]
        self.kinds = reduce(or_, (node.kinds for node in self._nodes))
        strings = [node for node in self._nodes if node.kinds & Kind.STRING]
        if strings and all(node.texts is not None for node in strings):
            self.texts = sorted({text for node in strings for text in node.texts or ()})
            self.text_rule = strings[0].text_rule

    def choose(self, container: Any, step: str | int | None) -> Node:
        nodes = [node for node in self._nodes if node.kinds & kind_of(container)]
        if self._tag is not None:
            tag = container.get(self._tag) if isinstance(container, dict) else None
            is_known = step != self._tag and isinstance(tag, (str, int)) and tag in self._tags
            nodes = [self._tags[tag]] if is_known else []
        elif len(nodes) > 1 and isinstance(container, dict):
            nodes = [n for n in nodes if not isinstance(n, Fields) or n.may_be(container, step)]
        if len(nodes) != 1:
            return self
        left = nodes[0].choose(container, step)
        # A union with a validator shows nothing of what is inside.
        return left if left is nodes[0] or not getattr(nodes[0], "is_hidden", False) else self

    def child(self, step: str | int) -> Node | Refusal:
        is_tag = step == self._tag and all(isinstance(tag, str) for tag in self._tags)
        return Tag(self._tags) if is_tag else UNKNOWN

    def grow(self, text: str) -> Any:
        nodes = [node for node in self._nodes if node.kinds & Kind.STRING]
        return self.wrap(nodes[0].grow(text)) if len(nodes) == 1 else ABSENT

    def zero(self, around: tuple[Any, ...] = ()) -> Any:
        return None


_NODES: Final[dict[str, type[TypedNode]]] = {
    "dict": Members,
    **dict.fromkeys(("literal", "enum"), Listed),
    **dict.fromkeys(_ARRAYS, Items),
    **dict.fromkeys(("nullable", "union", "tagged-union"), Union),
}


def judge(
    validator: Any, value: Any, name: str = "", *, is_whole: bool = False
) -> tuple[Any, Refusal | None]:
    """Return what pydantic makes of a complete value, or why it refuses it.

    `name` is what a message calls the value. If user code raises another exception, that is its
    verdict on the whole, and none on a part.
    """
    from pydantic_core import ValidationError

    try:
        try:
            return validator.validate_json(dumps(value, strict=True)), None
        except TypeError:
            # Numbers that were read with another `parse_float` have no JSON form.
            return validator.validate_python(value), None
    except ValidationError as error:
        return ABSENT, _explain(error, value, name)
    except RecursionError as error:
        return ABSENT, Refusal("depth", f"the value cannot be validated: {error}")
    except Exception as error:
        failure = Refusal(type(error).__name__, f"a validator failed: {error}")
        return ABSENT, failure if is_whole else None


def _explain(error: Any, value: Any, name: str) -> Refusal:
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
    return Refusal(first["type"], message, path)


def _needs_other_fields(core: Core) -> bool:
    """Return whether a validator of this field reads `info`, in which the other fields are."""
    while isinstance(core.get("schema"), dict) and core["type"] not in ("model", "dataclass"):
        function = core.get("function")
        if isinstance(function, dict) and function.get("type") == "with-info":
            return core["schema"]["type"] not in ("model", "dataclass")
        core = core["schema"]
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
