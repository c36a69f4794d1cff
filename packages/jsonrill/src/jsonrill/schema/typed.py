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
from typing import Any, Final

from ..jsontext import dumps
from ..paths import ABSENT, Path
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
    UNKNOWN,
    Node,
    Unknown,
    kind_of,
)
from .errors import Refusal, library, quote, refuse_key
from .partials import partial_dataclass, partial_model

Core = dict[str, Any]

# The kinds that lax mode may convert to each type.
_KINDS: Final = {
    "none": NULL,
    **dict.fromkeys(("bool", "int", "float"), STRING | NUMBER | BOOLEAN),
    **dict.fromkeys(("decimal", "date", "time", "datetime", "timedelta"), STRING | NUMBER),
    **dict.fromkeys(("str", "bytes", "uuid", "url", "multi-host-url", "json"), STRING),
    **dict.fromkeys(("list", "set", "frozenset", "tuple"), ARRAY),
    **dict.fromkeys(("dict", "model", "dataclass", "typed-dict"), OBJECT),
}
# The Python types that pydantic returns unchanged, and the zeros.
_UNCHANGED: Final[dict[str, type]] = {"str": str, "int": int, "float": float, "bool": bool}
_ZEROS: Final[dict[str, type]] = {**_UNCHANGED, "bytes": bytes, "decimal": Decimal}
_COLLECTIONS: Final[dict[str, Callable[[list[Any]], Any]]] = {
    "list": list,
    "set": set,
    "frozenset": frozenset,
    "tuple": tuple,
}
# Keys of core schemas that add no rule to a type.
_NO_RULES: Final = frozenset(
    ("type", "ref", "metadata", "serialization", "strict", "items_schema", "fail_fast")
    + ("variadic_item_index",)
)
_CHANGES_TEXT: Final = ("strip_whitespace", "to_lower", "to_upper")
_FIELDS: Final = frozenset(("model-fields", "dataclass-args", "typed-dict"))
_FUNCTIONS: Final = frozenset(("function-before", "function-wrap", "function-after"))
_SAMPLES: Final = {NULL: "null", NUMBER: "0", STRING: '""', ARRAY: "[]", OBJECT: "{}"}


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
        match core["type"]:
            case "any":
                return ANY
            case "definition-ref":
                return self.node(self.definitions.get(core["schema_ref"]), config)
            case "custom-error":
                return self.node(core["schema"], config)
            case "json-or-python":
                return self.node(core["json_schema"], config)
            case "default" if core.get("on_error", "raise") == "raise":
                return self.node(core["schema"], config)
            case "literal" | "enum":
                return Listed(self, core, config)
            case "dict":
                return Members(self, core, config)
            case "list" | "set" | "frozenset" | "tuple":
                return Items(self, core, config)
            case "model" | "dataclass" | "typed-dict":
                return self._class(core, core.get("config") or config)
            case "nullable" | "union" | "tagged-union":
                return Union(self, core, config)
            case "function-after" | "function-before" | "function-wrap":
                return self._validated(core, config, core["schema"], core["type"] != "function-after")
        return TypedNode(self, core, config)

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
        Node.__init__(self, _KINDS.get(name, EVERY))
        # The kind of container whose inside this node knows.
        self._shape = self.kinds
        self.types, self.core, self.config = types, core, config
        # True if the value is shown when it is complete.
        self.is_hidden = False
        # The class of a root model.
        self.root_of: Any = None
        self._validator: Any = None
        if self.kinds == STRING and config.get("coerce_numbers_to_str"):
            self.kinds |= NUMBER
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
            node.is_certain, node.kinds, node.texts = False, EVERY, None
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
        refusal = judge(self.validator, _SAMPLES.get(kind, "true"), is_text=True)[1]
        if refusal is None:
            return Node.refuse_kind(self, kind)
        return refusal._replace(message=f"{refusal.message}, not {NAMES[kind]}")

    def choose(self, container: Any, step: str | int | None) -> Node:
        return self if self._shape & kind_of(container) else UNKNOWN

    def child(self, step: str | int) -> Node | Refusal:
        return UNKNOWN

    def finish(self, value: Any, made: list[Any] | None = None) -> tuple[Any, Refusal | None]:
        return (value, None) if type(value) is self._unchanged else judge(self.validator, value)

    def grow(self, text: str) -> Any:
        return self.wrap(text) if self._grows else ABSENT

    def show(self, base: Any, step: str | int | None, inner: Any) -> Any:
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
        is_text = all(type(value) is str for value in self.values)
        is_text = is_text and not config.get("coerce_numbers_to_str")
        self.kinds = STRING if is_text else STRING | NUMBER | BOOLEAN | NULL
        self.texts = sorted(value for value in self.values if isinstance(value, str))
        self.text_rule = "literal_error" if core["type"] == "literal" else "enum"

    def finish(self, value: Any, made: list[Any] | None = None) -> tuple[Any, Refusal | None]:
        result, refusal = judge(self.validator, value)
        return result, refusal and refusal._replace(allowed=tuple(self.values))


class Items(TypedNode):
    """A list, set, frozenset or tuple; a tuple of fixed length is shown when it is complete."""

    __slots__ = ("_collect", "_first", "_rest")

    def __init__(self, types: Types, core: Core, config: Core) -> None:
        TypedNode.__init__(self, types, core, config)
        self._collect = _COLLECTIONS[core["type"]]
        self._rest: Core | None = core.get("items_schema")
        self._first: list[Core] = []
        self._grows = True
        if isinstance(self._rest, list):
            many = core.get("variadic_item_index")
            self._grows = many == len(self._rest) - 1
            self._first, self._rest = self._rest[:many], self._rest[-1]

    def child(self, step: str | int) -> Node | Refusal:
        assert isinstance(step, int)
        if step < len(self._first):
            return self.part(self._first[step])
        return self.part(self._rest) if self._grows else UNKNOWN

    def finish(self, value: Any, made: list[Any] | None = None) -> tuple[Any, Refusal | None]:
        if made is not None and self._grows and _NO_RULES.issuperset(self.core):
            collected = ABSENT if any(item is ABSENT for item in made) else self._collected(made)
            if collected is not ABSENT:
                return collected, None
        return judge(self.validator, value)

    def grow(self, text: str) -> Any:
        return ABSENT

    def show(self, base: Any, step: str | int | None, inner: Any) -> Any:
        # An element of a set is shown when it is complete: the set would have another one then.
        is_ordered = self._collect is list or self._collect is tuple
        shown = Node.show(self, base, step, inner if is_ordered else ABSENT)
        return self._collected(shown) if self._grows else ABSENT

    def _collected(self, made: list[Any]) -> Any:
        try:
            return made if self._collect is list else self._collect(made)
        except TypeError:  # not hashable before it is complete
            return ABSENT

    def zero(self, around: tuple[Any, ...] = ()) -> Any:
        zeros = [self.part(core).zero(around) for core in self._first]
        return None if None in zeros else self._collect(zeros)


class Members(TypedNode):
    """A dict."""

    __slots__ = ("_keys", "_values")

    def __init__(self, types: Types, core: Core, config: Core) -> None:
        TypedNode.__init__(self, types, core, config)
        self._values: Core | None = core.get("values_schema")
        keys = core.get("keys_schema") or {"type": "any"}
        is_plain = keys["type"] in ("any", "str") and _NO_RULES.issuperset(keys)
        only_keys = {"type": "dict", "keys_schema": keys}
        self._keys = None if is_plain else TypedNode(types, only_keys, config)

    def child(self, step: str | int) -> Node | Refusal:
        return self.part(self._values)

    def show(self, base: Any, step: str | int | None, inner: Any) -> Any:
        shown = Node.show(self, base, step, inner)
        return shown if self._keys is None else {self._key(key): shown[key] for key in shown}

    def _key(self, key: str) -> Any:
        """Return what pydantic makes of a key."""
        made = ABSENT if self._keys is None else self._keys.finish({key: None})[0]
        return key if made is ABSENT else next(iter(made))

    def zero(self, around: tuple[Any, ...] = ()) -> Any:
        return {}


class Fields(TypedNode):
    """A model, a dataclass or a TypedDict: named fields."""

    __slots__ = ("_children", "_closed", "_extra", "_fields", "_make", "_missing", "_names",
                 "cls")  # fmt: skip

    def __init__(self, types: Types, core: Core, config: Core, inner: Core) -> None:
        TypedNode.__init__(self, types, core, config)
        # A TypedDict is shown as a dict with the keys that have come.
        self.cls = None if core["type"] == "typed-dict" else core["cls"]
        self._make = partial_model if hasattr(self.cls, "model_construct") else partial_dataclass
        is_call = inner["type"] == "dataclass-args"
        fields = inner["fields"]
        self._fields: dict[str, Core] = {f["name"]: f for f in fields} if is_call else fields
        extra = inner.get("extra_behavior") or config.get("extra_fields_behavior")
        rule = "unexpected_keyword_argument" if is_call else "extra_forbidden"
        self._closed = rule if extra == "forbid" else ""
        self._extra = self.part(inner.get("extras_schema")) if extra == "allow" else UNKNOWN
        # The field of each key, and whether no other key comes before it; no field for keys of
        # which only pydantic knows what they are for.
        self._names: dict[Any, tuple[str | None, bool]] = {}
        for name, field in self._fields.items():
            for rank, path in enumerate(_paths(name, field, config)):
                is_plain = len(path) == 1 and path[0] not in self._names and field.get("init", True)
                self._names[path[0]] = (name if is_plain else None, rank == 0)
        self._children: dict[Any, Node] = {}
        self._missing: dict[str, Callable[[tuple[Any, ...]], Any]] = {}

    def child(self, step: str | int) -> Node | Refusal:
        if step not in self._children:
            if step not in self._names:
                is_closed = self._closed and isinstance(step, str)
                return refuse_key(self._closed, step, [*self._names]) if is_closed else self._extra
            self._children[step] = self._child(*self._names[step])
        return self._children[step]

    def _child(self, name: str | None, is_first: bool) -> Node:
        if name is None:
            return UNKNOWN
        schema = self._fields[name]["schema"]
        node = self.part(schema)
        if is_first or not isinstance(node, TypedNode):
            return node
        # Another key may come that counts instead: an invalid value is no violation.
        return node.around({"type": "default", "schema": schema, "on_error": "default",
                            "default": None}, is_changed=True)  # fmt: skip

    def may_be(self, container: Any, step: str | int | None) -> bool:
        """Return False if a Literal of this class says that the object belongs to another one."""
        for key in self._names:
            node = self.child(key) if key in container and key != step else None
            if isinstance(node, Listed) and node.texts is not None:
                if container[key] not in node.values:
                    return False
        return True

    def prepare(self, made: Any) -> Any:
        values = {} if self.cls is None else self.missing()
        names: set[str] = set()
        extra: dict[str, Any] = {}
        for key, value in made.items():
            self._put(key, value, values, names, extra)
        return values, names, extra

    def _put(self, key: Any, value: Any, values: Any, names: set[str], extra: Any) -> None:
        name, is_first = self._names.get(key, (None, False))
        if name is None:
            extra[key] = value
        elif is_first or name not in names:
            values[name] = value
            names.add(name)

    def show(self, base: Any, step: str | int | None, inner: Any) -> Any:
        values, names, extra = base[0].copy(), base[1].copy(), base[2].copy()
        if inner is not ABSENT:
            self._put(step, inner, values, names, extra)
        if self.cls is None:
            return {**values, **extra}
        return self._make(self.cls, values, names, extra or None)

    def field_names(self, keys: Iterable[str]) -> dict[str, str]:
        names = {key: self._names.get(key, (None, False))[0] for key in keys}
        return {key: name for key, name in names.items() if name is not None}

    def missing(self, around: tuple[Any, ...] = ()) -> dict[str, Any]:
        """Return the fields that have not come: their default, else None, or a zero."""
        if not self._missing:
            for name, field in self._fields.items():
                self._missing[name] = self._before(field["schema"])
        return {name: make((*around, self.cls)) for name, make in self._missing.items()}

    def _before(self, schema: Core) -> Callable[[tuple[Any, ...]], Any]:
        """Return what makes the value of a field that has not come."""
        if schema["type"] != "default":
            return self.part(schema).zero if self.types.zeros else lambda around: None
        factory, default = schema.get("default_factory"), schema.get("default")
        if factory is not None and not schema.get("default_factory_takes_data"):
            return lambda around: factory()
        return lambda around: deepcopy(default) if schema.get("copy_default") else default

    def zero(self, around: tuple[Any, ...] = ()) -> Any:
        if self.cls is None:
            names = [name for name, field in self._fields.items() if field.get("required", True)]
            return {name: self.part(self._fields[name]["schema"]).zero(around) for name in names}
        is_inside = self.cls in around
        return None if is_inside else self._make(self.cls, self.missing(around), set())


class Tag(Unknown):
    """The key that tells the types of a union apart."""

    __slots__ = ()

    def __init__(self, texts: Iterable[str]) -> None:
        Unknown.__init__(self, STRING, sorted(texts))
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
            self._nodes = [Node(NULL), self.part(core["schema"])]
        elif core["type"] == "union":
            choices = [item[0] if isinstance(item, tuple) else item for item in core["choices"]]
            self._nodes = [self.part(choice) for choice in choices]
        else:
            choices = core["choices"].items()
            self._tags = {tag: self.part(part) for tag, part in choices if isinstance(part, dict)}
            self._nodes = list(self._tags.values())
            if isinstance(core["discriminator"], str):
                self._tag = core["discriminator"]
        self.kinds = 0
        for node in self._nodes:
            self.kinds |= node.kinds
        strings = [node for node in self._nodes if node.kinds & STRING]
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
        nodes = [node for node in self._nodes if node.kinds & STRING]
        return self.wrap(nodes[0].grow(text)) if len(nodes) == 1 else ABSENT

    def zero(self, around: tuple[Any, ...] = ()) -> Any:
        return None


def judge(
    validator: Any, value: Any, *, is_whole: bool = False, is_text: bool = False
) -> tuple[Any, Refusal | None]:
    """Return what pydantic makes of a complete value, or why it refuses it.

    If user code raises another exception, that is its verdict on the whole, and none on a part.
    """
    from pydantic_core import ValidationError

    try:
        try:
            text = value if is_text else dumps(value, strict=True)
        except TypeError:
            # Numbers that were read with another `parse_float` have no JSON form.
            return validator.validate_python(value), None
        return validator.validate_json(text), None
    except ValidationError as error:
        return ABSENT, _explain(error, value, is_text)
    except RecursionError as error:
        return ABSENT, Refusal("depth", f"the value cannot be validated: {error}")
    except Exception as error:
        failure = Refusal(type(error).__name__, f"a validator failed: {error}")
        return ABSENT, failure if is_whole else None


def _explain(error: Any, value: Any, is_text: bool) -> Refusal:
    """Return the first of pydantic's complaints."""
    first = error.errors(include_url=False, include_context=False)[0]
    message = first["msg"]
    if first["type"] == "missing":
        message = f"{quote(first['loc'][-1])} is missing"
    elif not is_text and not isinstance(first["input"], (dict, list)):
        message += f", not {quote(first['input'])}" if first["type"] != "json_invalid" else ""
    path: Path = ()
    # Only the steps that exist: a location also has the names of alternatives.
    for step in () if is_text else first["loc"]:
        is_step = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if is_step or isinstance(value, dict) and step in value:
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
