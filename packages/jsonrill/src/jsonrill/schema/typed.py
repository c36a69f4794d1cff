"""A pydantic type as nodes, read from its core schema, which is what pydantic executes.

pydantic decides, in JSON mode, as `model_validate_json` does. A value is refused early only where
pydantic refuses it whatever follows, lax or strict as the field is. Nothing is checked early where
user code runs before the type (before, wrap and plain validators, an `__init__`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from decimal import Decimal
from enum import Enum
from functools import partial
from typing import Any, Final

from ..jsontext import dumps
from ..paths import ABSENT, Path
from .early import (
    ANY,
    ARRAY,
    BOOLEAN,
    NAMES,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    UNKNOWN,
    Node,
    kind_of,
)
from .errors import Refusal, quote, refuse_key
from .libraries import library
from .partials import partial_dataclass, partial_model

Core = dict[str, Any]
Config = dict[str, Any]

# For each scalar type: the kinds that lax mode accepts, strict mode accepts, and that are usual.
_LAX: Final = STRING | NUMBER | BOOLEAN
_SCALARS: Final[dict[str, tuple[int, int, int]]] = {
    "none": (NULL, NULL, NULL),
    "bool": (_LAX, BOOLEAN, BOOLEAN),
    "int": (_LAX, NUMBER, NUMBER),
    "float": (_LAX, NUMBER, NUMBER),
    "decimal": (STRING | NUMBER, STRING | NUMBER, STRING | NUMBER),
    "str": (STRING, STRING, STRING),
    "bytes": (STRING, STRING, STRING),
    "date": (STRING | NUMBER, STRING, STRING),
    "time": (STRING | NUMBER, STRING, STRING),
    "datetime": (STRING | NUMBER, STRING, STRING),
    "timedelta": (STRING | NUMBER, STRING, STRING),
    "uuid": (STRING, STRING, STRING),
    "url": (STRING, STRING, STRING),
    "multi-host-url": (STRING, STRING, STRING),
    "json": (STRING, STRING, STRING),
}
# Types whose complete values of these Python types pydantic returns unchanged.
_UNCHANGED: Final[dict[str, type]] = {"str": str, "int": int, "float": float, "bool": bool}
_ZEROS: Final[dict[str, Callable[[], Any]]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "bytes": bytes,
    "decimal": Decimal,
}
_COLLECTIONS: Final[dict[str, Callable[[list[Any]], Any]]] = {
    "list": list,
    "set": set,
    "frozenset": frozenset,
    "tuple": tuple,
}
# What a core schema may have and still accept every value of its type.
_ANNOTATIONS: Final = frozenset(
    ("type", "ref", "metadata", "serialization", "strict", "items_schema", "keys_schema")
    + ("values_schema", "fail_fast", "variadic_item_index")
)
_CHANGES_TEXT: Final = ("strip_whitespace", "to_lower", "to_upper")
_OBJECTS: Final = frozenset(("model-fields", "dataclass-args", "typed-dict"))
_SAMPLES: Final = {NULL: "null", NUMBER: "0", STRING: '""', ARRAY: "[]", OBJECT: "{}"}
# A configuration that cannot be known: nothing is certain about scalars.
_UNKNOWN_CONFIG: Final[Config] = {"title": "unknown"}


def compile_type(source: Any, zeros: bool = False) -> Node:
    """Return the node of a model, a TypeAdapter or a type; `ValueError` if pydantic takes none."""
    pydantic = library("pydantic")
    config: Config = {}
    try:
        if isinstance(source, pydantic.TypeAdapter):
            adapter = source
            config = _UNKNOWN_CONFIG if getattr(source, "_config", None) else {}
        else:
            adapter = pydantic.TypeAdapter(source)
        adapter.validator  # noqa: B018  # an incomplete definition shows here
        core = adapter.core_schema
    except (pydantic.PydanticUserError, NameError) as error:
        raise ValueError(f"pydantic takes no such type: {str(error).splitlines()[0]}") from error
    types = Types(core, config, zeros)
    return Whole(types, types.root_core, config, types.root, adapter)


class Types:
    """The core schema of one type: makes each node when it is first needed."""

    def __init__(self, core: Core, config: Config, zeros: bool) -> None:
        self.zeros = zeros
        self.definitions: dict[str, Core] = {}
        self._nodes: dict[tuple[int, int], tuple[Node, Core, Config]] = {}
        while core["type"] == "definitions":
            self.definitions.update((one["ref"], one) for one in core["definitions"])
            core = core["schema"]
        self.root_core = core
        self.root = self.node(core, config)

    def node(self, core: Core | None, config: Config) -> Node:
        """Return the node of a core schema."""
        if core is None:
            return ANY
        key = (id(core), id(config))
        if key not in self._nodes:
            # Kept with what it was made of, whose identities are the key.
            self._nodes[key] = (self._make(core, config), core, config)
        return self._nodes[key][0]

    def _make(self, core: Core, config: Config) -> Node:
        name = core["type"]
        if name == "definition-ref":
            return self.node(self.definitions.get(core["schema_ref"]), config)
        if name == "any":
            return ANY
        if name in _SCALARS and config is not _UNKNOWN_CONFIG:
            return Scalar(self, core, config)
        if name in ("literal", "enum"):
            return Listed(self, core, config)
        if name in _COLLECTIONS:
            return Items(self, core, config)
        if name in _CONTAINERS:
            return _CONTAINERS[name](self, core, config)
        if name == "custom-error" or (
            name == "default" and core.get("on_error", "raise") == "raise"
        ):
            return self.node(core["schema"], config)
        if name == "nullable":
            return Union(self, core, config, [Node(NULL), self.node(core["schema"], config)])
        if name in ("union", "tagged-union"):
            return self._union(core, config)
        if name in ("model", "dataclass"):
            return self._class(core, core.get("config") or config)
        if name == "function-after":
            return self._after(core, config)
        if name in ("function-before", "function-wrap"):
            inner = self.node(core["schema"], config)
            is_object = inner.kinds == OBJECT
            return (
                Around(self, core, config, inner, is_certain=False)
                if is_object
                else self._opaque(core, config)
            )
        if name == "json-or-python":
            return self._hidden(core, config, core["json_schema"])
        if name == "chain":
            return self._hidden(core, config, core["steps"][0])
        return self._opaque(core, config)

    def _opaque(self, core: Core, config: Config) -> Node:
        return TypedNode(self, core, config)

    def _hidden(self, core: Core, config: Config, inner: Core) -> Node:
        """Check as the inner type, and show nothing before the end."""
        return Around(self, core, config, self.node(inner, config), is_shown=False)

    def _after(self, core: Core, config: Config) -> Node:
        """A validator of a class may run when it is complete; another one may change the value."""
        inner = self.node(core["schema"], config)
        return Around(
            self, core, config, inner, is_shown=inner.natural == OBJECT and _is_class(inner)
        )

    def _class(self, core: Core, config: Config) -> Node:
        inner = core["schema"]
        is_certain = not core.get("custom_init")
        while inner["type"] in ("function-before", "function-wrap", "function-after"):
            is_certain = is_certain and inner["type"] == "function-after"
            inner = inner["schema"]
        if core.get("root_model"):
            node = self.node(inner, config)
            return Around(self, core, config, node, is_certain=is_certain, root_of=core["cls"])
        if inner["type"] not in _OBJECTS:
            return self._opaque(core, config)
        if is_certain and inner is core["schema"]:
            return Fields(self, core, config)
        fields = Fields(self, {**core, "schema": inner}, config)
        return Around(self, core, config, fields, is_certain=is_certain)

    def _union(self, core: Core, config: Config) -> Node:
        if core["type"] == "union":
            choices = [it[0] if isinstance(it, tuple) else it for it in core["choices"]]
            return Union(self, core, config, [self.node(it, config) for it in choices])
        tags = {tag: it for tag, it in core["choices"].items() if isinstance(it, dict)}
        nodes = {tag: self.node(it, config) for tag, it in tags.items()}
        union = Union(self, core, config, list(dict.fromkeys(nodes.values())))
        if isinstance(core["discriminator"], str):
            union.tag, union.tags = core["discriminator"], nodes
        return union

    def validator(self, core: Core, config: Config) -> Any:
        """Return pydantic's validator of a part of the type."""
        from pydantic_core import SchemaValidator

        if self.definitions:
            name = core.get("ref")
            if core is self.definitions.get(str(name)):  # it may refer to itself
                core = {"type": "definition-ref", "schema_ref": name}
            definitions = [*self.definitions.values()]
            core = {"type": "definitions", "schema": core, "definitions": definitions}
        settings: Any = config or None
        return SchemaValidator(core, settings)


class TypedNode(Node):
    """A type; the class itself is one about which nothing is known before its end."""

    __slots__ = ("_validator", "config", "core", "types")

    def __init__(self, types: Types, core: Core, config: Config) -> None:
        Node.__init__(self)
        self.types = types
        self.core = core
        self.config = config
        self._validator: Any = None
        self.is_judged = config is not _UNKNOWN_CONFIG and not _needs_other_fields(core)

    @property
    def is_strict(self) -> bool:
        own = self.core.get("strict")
        return bool(self.config.get("strict") if own is None else own)

    def grow(self, text: str) -> Any:
        return ABSENT

    def show(self, made: Any, step: str | int | None, inner: Any) -> Any:
        return ABSENT

    def child(self, step: str | int) -> Node | Refusal:
        return UNKNOWN

    def finish(self, value: Any, made: Any = None) -> tuple[Any, Refusal | None]:
        from pydantic_core import ValidationError

        if not self.is_judged:
            return ABSENT, None
        try:
            return validate(self.validator, value), None
        except ValidationError as error:
            return ABSENT, _explain(error, value)
        except Exception:
            return ABSENT, None  # user code failed; if it fails in its place, that counts

    def refuse_kind(self, kind: int) -> Refusal:
        from pydantic_core import ValidationError

        try:
            if self.is_judged:
                self.validator.validate_json(_SAMPLES.get(kind, "true"))
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            return Refusal(first["type"], f"{first['msg']}, not {NAMES[kind]}")
        except Exception:
            pass
        return Refusal("type", f"{NAMES[kind]} is not allowed")

    @property
    def validator(self) -> Any:
        if self._validator is None:
            self._validator = self.types.validator(self.core, self.config)
        return self._validator


class Whole(TypedNode):
    """The root of a type: as its inner node, but the TypeAdapter has the last word."""

    __slots__ = ("inner",)

    def __init__(self, types: Types, core: Core, config: Config, inner: Node, adapter: Any) -> None:
        TypedNode.__init__(self, types, core, config)
        self.inner = inner
        self._validator = adapter
        self.is_judged = True
        self.kinds, self.natural = inner.kinds, inner.natural
        self.texts, self.text_rule = inner.texts, inner.text_rule

    def open(self, kind: int) -> Node:
        return self.inner.open(kind)

    def grow(self, text: str) -> Any:
        return self.inner.grow(text)

    def finish(self, value: Any, made: Any = None) -> tuple[Any, Refusal | None]:
        from pydantic_core import ValidationError

        try:
            return validate(self._validator, value), None
        except ValidationError as error:
            return ABSENT, _explain(error, value)
        except RecursionError as error:
            return ABSENT, Refusal("depth", f"the value cannot be validated: {error}")
        except Exception as error:  # whatever user code raises is its verdict
            return ABSENT, Refusal(type(error).__name__, f"a validator failed: {error}")


class Scalar(TypedNode):
    """A type of the table."""

    __slots__ = ("_grows", "_unchanged")

    def __init__(self, types: Types, core: Core, config: Config) -> None:
        TypedNode.__init__(self, types, core, config)
        name = core["type"]
        lax, strict, self.natural = _SCALARS[name]
        self.kinds = strict if self.is_strict else lax
        is_text = name == "str"
        if is_text and core.get("coerce_numbers_to_str", config.get("coerce_numbers_to_str")):
            self.kinds |= NUMBER
        changes = any(core.get(it, config.get(f"str_{it}")) for it in _CHANGES_TEXT)
        self._grows = is_text and not changes
        has_rules = not _ANNOTATIONS.issuperset(core)
        has_rules |= is_text and any(it.startswith("str_") for it in config)
        has_rules |= name == "float" and not config.get("allow_inf_nan", True)
        self._unchanged: Any = None if has_rules else _UNCHANGED.get(name)

    def finish(self, value: Any, made: Any = None) -> tuple[Any, Refusal | None]:
        if type(value) is self._unchanged:
            return value, None
        return TypedNode.finish(self, value)

    def grow(self, text: str) -> Any:
        return text if self._grows else ABSENT

    def zero(self, around: tuple[Any, ...] = ()) -> Any:
        make = _ZEROS.get(self.core["type"])
        return None if make is None else make()


class Listed(TypedNode):
    """A Literal or an Enum: its strings are known, other values are left to pydantic."""

    __slots__ = ("values",)

    def __init__(self, types: Types, core: Core, config: Config) -> None:
        TypedNode.__init__(self, types, core, config)
        values = (
            core["expected"] if core["type"] == "literal" else [it.value for it in core["members"]]
        )
        # Of a Literal with members of an Enum.
        self.values = [it.value if isinstance(it, Enum) else it for it in values]
        is_simple = all(type(it) in (str, int, bool, type(None)) for it in self.values)
        is_open = core.get("missing") is not None or core.get("sub_type") in ("int", "float")
        if not is_simple or is_open:
            self.values = []
            return
        kinds = 0
        for it in self.values:
            # true equals 1, and 1.0 equals 1.
            kinds |= NUMBER | BOOLEAN if isinstance(it, int) else kind_of(it)
        self.natural = kinds
        if core.get("sub_type") == "str" and config.get("coerce_numbers_to_str"):
            kinds |= NUMBER
        self.kinds = kinds
        self.texts = sorted(it for it in self.values if isinstance(it, str))
        self.text_rule = "literal_error" if core["type"] == "literal" else "enum"

    def finish(self, value: Any, made: Any = None) -> tuple[Any, Refusal | None]:
        result, refusal = TypedNode.finish(self, value)
        return result, refusal and refusal._replace(allowed=tuple(self.values))


class Items(TypedNode):
    """A list, set, frozenset or tuple."""

    __slots__ = ("_collect", "_has_rules", "_is_growing", "_rest", "_several")

    def __init__(self, types: Types, core: Core, config: Config) -> None:
        TypedNode.__init__(self, types, core, config)
        self.kinds = self.natural = ARRAY
        self._collect = _COLLECTIONS[core["type"]]
        items = core.get("items_schema")
        self._several: list[Core] = []
        self._rest: Core | None = None if isinstance(items, list) else items
        # A tuple of fixed length is shown when it is complete.
        self._is_growing = True
        if isinstance(items, list):
            many = core.get("variadic_item_index")
            self._several = items if many is None else items[:many]
            self._is_growing = many is not None and many == len(items) - 1
            self._rest = items[many] if self._is_growing and many is not None else None
        self._has_rules = not _ANNOTATIONS.issuperset(core) or not self._is_growing

    def child(self, step: str | int) -> Node | Refusal:
        assert isinstance(step, int)
        if step < len(self._several):
            return self.types.node(self._several[step], self.config)
        if self._rest is None and not self._is_growing:
            return UNKNOWN
        return self.types.node(self._rest, self.config)

    def finish(self, value: Any, made: Any = None) -> tuple[Any, Refusal | None]:
        if made is not None and not self._has_rules and not any(it is ABSENT for it in made):
            return self._collected(made), None
        return TypedNode.finish(self, value)

    def _collected(self, made: list[Any]) -> Any:
        try:
            return made if self._collect is list else self._collect(made)
        except TypeError:  # not hashable yet
            return ABSENT

    def show(self, made: Any, step: str | int | None, inner: Any) -> Any:
        if not self._is_growing:
            return ABSENT
        # An element of a set is shown when it is complete: the set would have another one then.
        is_ordered = self._collect is list or self._collect is tuple
        return self._collected(Node.show(self, made, step, inner if is_ordered else ABSENT))

    def zero(self, around: tuple[Any, ...] = ()) -> Any:
        if self._is_growing:
            return self._collect([])
        zeros = [self.types.node(it, self.config).zero(around) for it in self._several]
        return None if None in zeros else tuple(zeros)


class Members(TypedNode):
    """A dict."""

    __slots__ = ("_keys",)

    def __init__(self, types: Types, core: Core, config: Config) -> None:
        TypedNode.__init__(self, types, core, config)
        self.kinds = self.natural = OBJECT
        keys = core.get("keys_schema") or {"type": "any"}
        is_plain = keys["type"] in ("any", "str") and _ANNOTATIONS.issuperset(keys)
        lone = {"type": "dict", "keys_schema": keys}
        self._keys = None if is_plain else TypedNode(types, lone, config)

    def child(self, step: str | int) -> Node | Refusal:
        return self.types.node(self.core.get("values_schema"), self.config)

    def show(self, made: Any, step: str | int | None, inner: Any) -> Any:
        shown = Node.show(self, made, step, inner)
        return shown if self._keys is None else {self._key(key): it for key, it in shown.items()}

    def _key(self, key: str) -> Any:
        """Return what pydantic makes of a key."""
        assert self._keys is not None
        made, refusal = self._keys.finish({key: None})
        return key if refusal is not None or made is ABSENT else next(iter(made))

    def zero(self, around: tuple[Any, ...] = ()) -> Any:
        return {}


class Fields(TypedNode):
    """A model, a dataclass or a TypedDict: named fields."""

    __slots__ = (
        "_closed",
        "_constants",
        "_extra",
        "_factories",
        "_fields",
        "_keys",
        "_make",
        "cls",
    )

    def __init__(self, types: Types, core: Core, config: Config) -> None:
        TypedNode.__init__(self, types, core, config)
        self.kinds = self.natural = OBJECT
        inner = core if core["type"] in _OBJECTS else core["schema"]
        # A TypedDict is shown as a dict with the keys that have come.
        self.cls = None if core["type"] == "typed-dict" else core["cls"]
        self.config = core.get("config") or config
        self._fields = dict(_each_field(inner))
        self._make = partial_model if hasattr(self.cls, "model_construct") else partial_dataclass
        self._closed = ""
        self._extra: Node = UNKNOWN
        extra = inner.get("extra_behavior") or self.config.get("extra_fields_behavior")
        if extra == "forbid":
            is_call = inner["type"] == "dataclass-args"
            self._closed = "unexpected_keyword_argument" if is_call else "extra_forbidden"
        elif extra == "allow":
            self._extra = types.node(inner.get("extras_schema"), self.config)
        # The field of each key, and whether no other key comes before it; no field for keys of
        # which only pydantic knows what they are for.
        self._keys: dict[str, tuple[str | None, bool]] = {}
        for name, field in self._fields.items():
            for rank, path in enumerate(_paths(name, field, self.config)):
                is_plain = len(path) == 1 and path[0] not in self._keys and field.get("init", True)
                self._keys[path[0]] = (name if is_plain else None, rank == 0)
        # What fields are before they have come; filled at the first look.
        self._constants: dict[str, Any] | None = None
        self._factories: dict[str, Callable[[], Any]] = {}

    def child(self, step: str | int) -> Node | Refusal:
        name, is_first = self._keys.get(step, (None, None))  # type: ignore[arg-type]
        if name is None:
            if is_first is not None:
                return UNKNOWN
            keys = list(self._keys)
            return refuse_key(self._closed, str(step), keys) if self._closed else self._extra
        node = self.types.node(self._fields[name]["schema"], self.config)
        return node if is_first else Uncertain(node)

    def accepts(self, key: str, value: Any) -> bool:
        """Return False if a Literal of this class says that the value belongs to another one."""
        name = self._keys.get(key, (None, False))[0]
        node = None if name is None else self.types.node(self._fields[name]["schema"], self.config)
        return not isinstance(node, Listed) or not node.values or value in node.values

    def show(self, made: Any, step: str | int | None, inner: Any) -> Any:
        values = self.missing() if self.cls is not None else {}
        names = set()
        extra = {}
        if inner is not ABSENT:
            made = {**made, step: inner}
        for key, value in made.items():
            name, is_first = self._keys.get(key, (None, False))
            if name is None:
                if self._extra is not UNKNOWN:
                    extra[key] = value
            elif is_first or name not in names:
                values[name] = value
                names.add(name)
        if self.cls is None:
            return {**values, **extra}
        return self._make(self.cls, values, names, extra or None)

    def field_names(self, keys: Iterable[str]) -> dict[str, str]:
        names = {key: self._keys.get(key, (None, False))[0] for key in keys}
        return {key: name for key, name in names.items() if name is not None}

    def missing(self, around: tuple[Any, ...] = ()) -> dict[str, Any]:
        """Return the fields that have not come: their default, else None, or a zero."""
        if self._constants is None:
            self._constants = {}
            for name, field in self._fields.items():
                schema = field["schema"]
                make = self._default(schema)
                if make is not None:
                    self._factories[name] = make
                    self._constants[name] = None
                else:
                    self._constants[name] = schema.get("default")
                    if self.types.zeros and schema["type"] != "default":
                        node = self.types.node(schema, self.config)
                        self._factories[name] = partial(node.zero, (*around, self.cls))
        values = self._constants.copy()
        for name, make in self._factories.items():
            values[name] = make()
        return values

    def _default(self, schema: Core) -> Callable[[], Any] | None:
        """Return what makes the default of a field; None if it has none, or a constant."""
        if schema["type"] != "default" or schema.get("default_factory_takes_data"):
            return None
        if schema.get("default_factory") is not None:
            factory: Callable[[], Any] = schema["default_factory"]
            return factory
        return (lambda: deepcopy(schema["default"])) if schema.get("copy_default") else None

    def zero(self, around: tuple[Any, ...] = ()) -> Any:
        if self.cls in around:
            return None
        if self.cls is not None:
            return self._make(self.cls, self.missing(around), set())
        return {
            name: self.types.node(field["schema"], self.config).zero(around)
            for name, field in self._fields.items()
            if field.get("required", True)
        }


class Union(TypedNode):
    """Several types, of which one is left sooner or later; until then nothing is shown."""

    __slots__ = ("nodes", "tag", "tags")

    def __init__(self, types: Types, core: Core, config: Config, nodes: list[Node]) -> None:
        TypedNode.__init__(self, types, core, config)
        self.nodes = nodes
        # The key that tells the types apart, if there is one, and the type of each of its values.
        self.tag: str | None = None
        self.tags: dict[Any, Node] = {}
        self.kinds = self.natural = 0
        for node in nodes:
            self.kinds |= node.kinds
            self.natural |= node.natural
        texts = [node.texts for node in nodes if node.kinds & STRING]
        if texts and all(it is not None for it in texts):
            self.texts = sorted({text for it in texts if it is not None for text in it})
            self.text_rule = next(it.text_rule for it in nodes if it.kinds & STRING)

    def open(self, kind: int) -> Node:
        return self._left([it for it in self.nodes if it.kinds & kind], kind)

    def _left(self, nodes: list[Node], kind: int) -> Node:
        if len(nodes) == 1:
            return nodes[0].open(kind)
        if len(nodes) == len(self.nodes) or not nodes:
            return self
        return Union(self.types, self.core, self.config, nodes)

    def child(self, step: str | int) -> Node | Refusal:
        if step == self.tag and all(isinstance(it, str) for it in self.tags):
            return Tag(sorted(self.tags))
        return UNKNOWN

    def narrow(self, step: str | int, value: Any) -> Node:
        if self.tag is not None:
            try:
                node = self.tags.get(value) if step == self.tag else None
            except TypeError:
                node = None
            return self if node is None else node.open(OBJECT)
        left = [
            it for it in self.nodes if not isinstance(it, Fields) or it.accepts(str(step), value)
        ]
        return self._left(left, OBJECT) if isinstance(step, str) else self

    def grow(self, text: str) -> Any:
        nodes = [it for it in self.nodes if it.kinds & STRING]
        return nodes[0].grow(text) if len(nodes) == 1 else ABSENT

    def zero(self, around: tuple[Any, ...] = ()) -> Any:
        if self.natural & NULL:
            return None
        zeros = [it.zero(around) for it in self.nodes]
        is_one = all(it is not None and it == zeros[0] for it in zeros)
        return zeros[0] if is_one and not _is_class(self.nodes[0]) else None


class Tag(Node):
    """The member that tells the types of a union apart; pydantic judges the object."""

    __slots__ = ()

    def __init__(self, tags: list[str]) -> None:
        Node.__init__(self, STRING, tags)
        self.is_judged = False
        self.text_rule = "union_tag_invalid"

    def grow(self, text: str) -> Any:
        return ABSENT


class Around(TypedNode):
    """A type inside of another one: a root model, or what a validator function stands on.

    With `is_certain` the inside is checked early, with `is_shown` it is shown before the end.
    """

    __slots__ = ("inner", "is_certain", "is_shown", "root_of")

    def __init__(
        self,
        types: Types,
        core: Core,
        config: Config,
        inner: Node,
        *,
        is_certain: bool = True,
        is_shown: bool = True,
        root_of: Any = None,
    ) -> None:
        TypedNode.__init__(self, types, core, config)
        self.inner = inner
        self.is_certain = is_certain
        self.is_shown = is_shown
        self.root_of = root_of
        self.natural = inner.natural
        if is_certain:
            self.kinds, self.texts, self.text_rule = inner.kinds, inner.texts, inner.text_rule

    def open(self, kind: int) -> Node:
        if not self.inner.kinds & kind:
            return UNKNOWN
        inner = self.inner.open(kind)
        is_plain = self.is_certain and self.is_shown and self.root_of is None
        return inner if is_plain else Inside(self, inner)

    def grow(self, text: str) -> Any:
        return ABSENT if self.root_of is None else self.wrap(self.inner.grow(text))

    def wrap(self, shown: Any) -> Any:
        """Return what is shown of the inside as this type shows it."""
        if shown is ABSENT or not self.is_shown:
            return ABSENT
        return (
            shown
            if self.root_of is None
            else partial_model(self.root_of, {"root": shown}, {"root"})
        )

    def zero(self, around: tuple[Any, ...] = ()) -> Any:
        zero = self.inner.zero(around)
        if self.root_of is not None:
            return partial_model(self.root_of, {"root": zero}, set())
        return zero


class Inside(Node):
    """The open container of an `Around`."""

    __slots__ = ("_around", "_inner")

    def __init__(self, around: Around, inner: Node) -> None:
        Node.__init__(self)
        self._around = around
        self._inner = inner

    def child(self, step: str | int) -> Node | Refusal:
        node = self._inner.child(step)
        if self._around.is_certain:
            return node
        return UNKNOWN if isinstance(node, Refusal) else Uncertain(node)

    def narrow(self, step: str | int, value: Any) -> Node:
        inner = self._inner.narrow(step, value)
        return self if inner is self._inner else Inside(self._around, inner)

    def show(self, made: Any, step: str | int | None, inner: Any) -> Any:
        return self._around.wrap(self._inner.show(made, step, inner))

    def field_names(self, keys: Iterable[str]) -> dict[str, str]:
        return self._inner.field_names(keys)


class Uncertain(Node):
    """A value in an object that user code may change first: shown if it fits, never refused."""

    __slots__ = ("_inner",)

    def __init__(self, inner: Node) -> None:
        Node.__init__(self)
        self._inner = inner

    def open(self, kind: int) -> Node:
        return Uncertain(self._inner.open(kind)) if self._inner.kinds & kind else UNKNOWN

    def child(self, step: str | int) -> Node | Refusal:
        node = self._inner.child(step)
        return UNKNOWN if isinstance(node, Refusal) else Uncertain(node)

    def narrow(self, step: str | int, value: Any) -> Node:
        inner = self._inner.narrow(step, value)
        return self if inner is self._inner else Uncertain(inner)

    def finish(self, value: Any, made: Any = None) -> tuple[Any, Refusal | None]:
        return self._inner.finish(value)[0], None

    def grow(self, text: str) -> Any:
        return self._inner.grow(text) if self._inner.kinds & STRING else ABSENT

    def show(self, made: Any, step: str | int | None, inner: Any) -> Any:
        return self._inner.show(made, step, inner)


_CONTAINERS: Final[dict[str, Callable[[Types, Core, Config], Node]]] = {
    "dict": Members,
    "typed-dict": Fields,
}


def validate(validator: Any, value: Any) -> Any:
    """Return what pydantic makes of a complete JSON value."""
    try:
        text = dumps(value, strict=True)
    except TypeError:
        # Numbers that were read with another `parse_float` have no JSON form.
        return validator.validate_python(value)
    return validator.validate_json(text)


def _explain(error: Any, value: Any) -> Refusal:
    """Return the first of pydantic's complaints."""
    first = error.errors(include_url=False, include_context=False)[0]
    message = first["msg"]
    if first["type"] == "missing":
        message = f"{quote(first['loc'][-1])} is missing"
    elif not isinstance(first["input"], (dict, list)) and first["type"] != "json_invalid":
        message += f", not {quote(first['input'])}"
    return Refusal(first["type"], message, _path(first["loc"], value))


def _path(location: tuple[Any, ...], value: Any) -> Path:
    """Return pydantic's location as a path in the value: without names of alternatives."""
    path: list[str | int] = []
    for step in location:
        if isinstance(value, dict):
            exists = isinstance(step, str) and step in value
        else:
            exists = isinstance(value, list) and type(step) is int and 0 <= step < len(value)
        if exists:
            path.append(step)
            value = value[step]
    return tuple(path)


def _is_class(node: Node) -> bool:
    inner = node.inner if isinstance(node, Around) else node
    return isinstance(inner, Fields) and inner.cls is not None


def _needs_other_fields(core: Core) -> bool:
    """Return whether a validator of this field reads `info`, in which the other fields are."""
    while True:
        function = core.get("function")
        inner = core.get("schema")
        if not isinstance(inner, dict) or inner["type"] in ("model", "dataclass"):
            return False
        if isinstance(function, dict) and function.get("type") == "with-info":
            return True
        core = inner


def _each_field(core: Core) -> Iterator[tuple[str, Core]]:
    if core["type"] == "dataclass-args":
        yield from ((field["name"], field) for field in core["fields"])
        return
    for name, field in core["fields"].items():
        if core["type"] == "typed-dict" and "required" not in field:
            field = {**field, "required": core.get("total", True)}
        yield name, field


def _paths(name: str, field: Core, config: Config) -> list[list[Any]]:
    """Return the paths at which pydantic looks for the value of a field, in order."""
    alias = field.get("validation_alias")
    by_name = config.get("validate_by_name") or config.get("populate_by_name")
    paths: list[list[Any]] = []
    if alias is not None and config.get("validate_by_alias", True):
        is_list = isinstance(alias, list)
        paths = (
            list(alias)
            if is_list and isinstance(alias[0], list)
            else [alias if is_list else [alias]]
        )
    if not paths or by_name:
        paths.append([name])
    return paths
