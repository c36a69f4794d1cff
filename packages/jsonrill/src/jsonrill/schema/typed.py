"""A pydantic type as nodes, read from its core schema, which is what pydantic executes.

pydantic decides, in JSON mode, as `model_validate_json` does. A value is refused early only where
lax mode refuses it whatever follows. Nothing is checked early where user code runs before the type
(before, wrap and plain validators, an `__init__`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
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

# The kinds that lax mode may convert to each scalar type.
_SCALARS: Final = {
    "none": NULL,
    **dict.fromkeys(("bool", "int", "float"), STRING | NUMBER | BOOLEAN),
    **dict.fromkeys(("decimal", "date", "time", "datetime", "timedelta"), STRING | NUMBER),
    **dict.fromkeys(("str", "bytes", "uuid", "url", "multi-host-url", "json"), STRING),
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
    ("type", "ref", "metadata", "serialization", "strict", "items_schema", "keys_schema")
    + ("values_schema", "fail_fast", "variadic_item_index")
)
_CHANGES_TEXT: Final = ("strip_whitespace", "to_lower", "to_upper")
_FIELDS: Final = frozenset(("model-fields", "dataclass-args", "typed-dict"))
_FUNCTIONS: Final = frozenset(("function-before", "function-wrap", "function-after"))
_SAMPLES: Final = {NULL: "null", NUMBER: "0", STRING: '""', ARRAY: "[]", OBJECT: "{}"}
# The configuration of a TypeAdapter with its own, which it does not tell.
_HIDDEN_CONFIG: Final[Core] = {"title": "hidden"}


def compile_type(source: Any, zeros: bool) -> tuple[Node, Callable[[Any], Any]]:
    """Return the node of a type, and what validates a complete value of it.

    `ValueError` if pydantic cannot validate the type.
    """
    pydantic = library("pydantic", "pydantic", "a pydantic type")
    config: Core = {}
    try:
        adapter = source
        if isinstance(source, pydantic.TypeAdapter):
            config = _HIDDEN_CONFIG if getattr(source, "_config", None) else {}
        else:
            adapter = pydantic.TypeAdapter(source)
        adapter.validator  # noqa: B018  # an incomplete definition shows here
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
            self.definitions.update((one["ref"], one) for one in core["definitions"])
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
        match core["type"]:
            case "any":
                return ANY
            case "definition-ref":
                return self.node(self.definitions.get(core["schema_ref"]), config)
            case "custom-error":
                return self.node(core["schema"], config)
            case "default" if core.get("on_error", "raise") == "raise":
                return self.node(core["schema"], config)
            case "literal" | "enum":
                return Listed(self, core, config)
            case "dict":
                return Members(self, core, config)
            case "model" | "dataclass" | "typed-dict":
                return self._class(core, core.get("config") or config)
            case "nullable":
                return Union(self, core, config, [Node(NULL), self.node(core["schema"], config)])
            case "union":
                choices = [it[0] if isinstance(it, tuple) else it for it in core["choices"]]
                return Union(self, core, config, [self.node(it, config) for it in choices])
            case "tagged-union":
                return self._tagged_union(core, config)
            case "function-after":
                inner = self.node(core["schema"], config)
                return Around(self, core, config, inner, is_shown=_is_class(inner))
            case "json-or-python" | "chain":
                first = core["json_schema"] if "json_schema" in core else core["steps"][0]
                return Around(self, core, config, self.node(first, config), is_shown=False)
            case "function-before" | "function-wrap":
                inner = self.node(core["schema"], config)
                if inner.kinds == OBJECT:
                    return Around(self, core, config, inner, is_certain=False)
            case name if name in _COLLECTIONS:
                return Items(self, core, config)
            case name if name in _SCALARS and config is not _HIDDEN_CONFIG:
                return Scalar(self, core, config)
        return TypedNode(self, core, config)

    def _class(self, core: Core, config: Core) -> Node:
        inner = core if core["type"] == "typed-dict" else core["schema"]
        is_certain = not core.get("custom_init")
        while inner["type"] in _FUNCTIONS:
            is_certain = is_certain and inner["type"] == "function-after"
            inner = inner["schema"]
        if core.get("root_model"):
            node = self.node(inner, config)
            return Around(self, core, config, node, is_certain=is_certain, root_of=core["cls"])
        if inner["type"] not in _FIELDS:
            return TypedNode(self, core, config)
        fields = Fields(self, core, config, inner)
        is_plain = is_certain and inner is core.get("schema", core)
        return fields if is_plain else Around(self, core, config, fields, is_certain=is_certain)

    def _tagged_union(self, core: Core, config: Core) -> Node:
        choices = {tag: it for tag, it in core["choices"].items() if isinstance(it, dict)}
        tags = {tag: self.node(it, config) for tag, it in choices.items()}
        union = Union(self, core, config, list(dict.fromkeys(tags.values())))
        if isinstance(core["discriminator"], str):
            union.tag, union.tags = core["discriminator"], tags
        return union

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
    """A type; the class itself is one about which nothing is known before its end."""

    __slots__ = ("_validator", "config", "core", "types")

    def __init__(self, types: Types, core: Core, config: Core, kinds: int = EVERY) -> None:
        Node.__init__(self, kinds)
        self.types, self.core, self.config = types, core, config
        self._validator: Any = None
        self.is_judged = config is not _HIDDEN_CONFIG and not _needs_other_fields(core)

    @property
    def validator(self) -> Any:
        if self._validator is None:
            self._validator = self.types.validator(self.core, self.config)
        return self._validator

    def part(self, core: Core | None) -> Node:
        """Return the node of a part of this type."""
        return self.types.node(core, self.config)

    def refuse_kind(self, kind: int) -> Refusal:
        sample = _SAMPLES.get(kind, "true")
        refusal = judge(self.validator, sample, is_text=True)[1] if self.is_judged else None
        if refusal is None:
            return Node.refuse_kind(self, kind)
        return refusal._replace(message=f"{refusal.message}, not {NAMES[kind]}")

    def child(self, step: str | int) -> Node | Refusal:
        return UNKNOWN

    def finish(self, value: Any, made: Any = None) -> tuple[Any, Refusal | None]:
        return judge(self.validator, value) if self.is_judged else (ABSENT, None)

    def grow(self, text: str) -> Any:
        return ABSENT

    def show(self, base: Any, step: str | int | None, inner: Any) -> Any:
        return ABSENT


class Scalar(TypedNode):
    """A type of the table."""

    __slots__ = ("_grows", "_unchanged")

    def __init__(self, types: Types, core: Core, config: Core) -> None:
        name = core["type"]
        TypedNode.__init__(self, types, core, config, _SCALARS[name])
        is_text = name == "str"
        if is_text and core.get("coerce_numbers_to_str", config.get("coerce_numbers_to_str")):
            self.kinds |= NUMBER
        changes = any(core.get(it, config.get(f"str_{it}")) for it in _CHANGES_TEXT)
        self._grows = is_text and not changes
        has_rules = not _NO_RULES.issuperset(core) or (is_text and "str_" in "".join(config))
        has_rules |= name == "float" and not config.get("allow_inf_nan", True)
        self._unchanged = None if has_rules else _UNCHANGED.get(name)

    def finish(self, value: Any, made: Any = None) -> tuple[Any, Refusal | None]:
        return (value, None) if type(value) is self._unchanged else TypedNode.finish(self, value)

    def grow(self, text: str) -> Any:
        return text if self._grows else ABSENT

    def zero(self, around: tuple[Any, ...] = ()) -> Any:
        make = _ZEROS.get(self.core["type"])
        return None if make is None else make()


class Listed(TypedNode):
    """A Literal or an Enum: its strings are known, other values are left to pydantic."""

    __slots__ = ("values",)

    def __init__(self, types: Types, core: Core, config: Core) -> None:
        TypedNode.__init__(self, types, core, config)
        values = core["expected"] if core["type"] == "literal" else core["members"]
        self.values = [it.value if isinstance(it, Enum) else it for it in values]
        is_simple = all(type(it) in (str, int, bool, type(None)) for it in self.values)
        if not is_simple or core.get("missing") or core.get("sub_type") in ("int", "float"):
            self.values = []
            return
        coerces = core.get("sub_type") == "str" and config.get("coerce_numbers_to_str")
        self.kinds = NUMBER if coerces else 0
        for it in self.values:
            # true equals 1, and 1.0 equals 1.
            self.kinds |= NUMBER | BOOLEAN if isinstance(it, int) else kind_of(it)
        self.texts = sorted(it for it in self.values if isinstance(it, str))
        self.text_rule = "literal_error" if core["type"] == "literal" else "enum"

    def finish(self, value: Any, made: Any = None) -> tuple[Any, Refusal | None]:
        result, refusal = TypedNode.finish(self, value)
        return result, refusal and refusal._replace(allowed=tuple(self.values))


class Items(TypedNode):
    """A list, set, frozenset or tuple; a tuple of fixed length is shown when it is complete."""

    __slots__ = ("_collect", "_first", "_grows", "_rest")

    def __init__(self, types: Types, core: Core, config: Core) -> None:
        TypedNode.__init__(self, types, core, config, ARRAY)
        self._collect = _COLLECTIONS[core["type"]]
        self._rest: Core | None = core.get("items_schema")
        self._first: list[Core] = []
        self._grows = True
        if isinstance(self._rest, list):
            many = core.get("variadic_item_index")
            self._first = self._rest if many is None else self._rest[:many]
            self._grows = many == len(self._rest) - 1
            self._rest = self._rest[-1]

    def child(self, step: str | int) -> Node | Refusal:
        assert isinstance(step, int)
        if step < len(self._first):
            return self.part(self._first[step])
        return self.part(self._rest) if self._grows else UNKNOWN

    def finish(self, value: Any, made: Any = None) -> tuple[Any, Refusal | None]:
        is_plain = made is not None and self._grows and _NO_RULES.issuperset(self.core)
        if is_plain and not any(it is ABSENT for it in made):
            return self._collected(made), None
        return TypedNode.finish(self, value)

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
        zeros = [self.part(it).zero(around) for it in self._first]
        return None if None in zeros else self._collect(zeros)


class Members(TypedNode):
    """A dict."""

    __slots__ = ("_keys",)

    def __init__(self, types: Types, core: Core, config: Core) -> None:
        TypedNode.__init__(self, types, core, config, OBJECT)
        keys = core.get("keys_schema") or {"type": "any"}
        is_plain = keys["type"] in ("any", "str") and _NO_RULES.issuperset(keys)
        lone = {"type": "dict", "keys_schema": keys}
        self._keys = None if is_plain else TypedNode(types, lone, config)

    def child(self, step: str | int) -> Node | Refusal:
        return self.part(self.core.get("values_schema"))

    def show(self, base: Any, step: str | int | None, inner: Any) -> Any:
        shown = Node.show(self, base, step, inner)
        return shown if self._keys is None else {self._key(key): it for key, it in shown.items()}

    def _key(self, key: str) -> Any:
        """Return what pydantic makes of a key."""
        made = ABSENT if self._keys is None else self._keys.finish({key: None})[0]
        return key if made is ABSENT else next(iter(made))

    def zero(self, around: tuple[Any, ...] = ()) -> Any:
        return {}


class Fields(TypedNode):
    """A model, a dataclass or a TypedDict: named fields."""

    __slots__ = ("_closed", "_extra", "_fields", "_keys", "_make", "_missing", "cls")

    def __init__(self, types: Types, core: Core, config: Core, inner: Core) -> None:
        TypedNode.__init__(self, types, core, config, OBJECT)
        # A TypedDict is shown as a dict with the keys that have come.
        self.cls = None if core["type"] == "typed-dict" else core["cls"]
        self._make = partial_model if hasattr(self.cls, "model_construct") else partial_dataclass
        self._fields = dict(_each_field(inner))
        self._missing: list[tuple[str, Callable[[tuple[Any, ...]], Any]]] | None = None
        extra = inner.get("extra_behavior") or config.get("extra_fields_behavior")
        is_call = inner["type"] == "dataclass-args"
        rule = "unexpected_keyword_argument" if is_call else "extra_forbidden"
        self._closed = rule if extra == "forbid" else ""
        self._extra = self.part(inner.get("extras_schema")) if extra == "allow" else UNKNOWN
        # The field of each key, and whether no other key comes before it; no field for keys of
        # which only pydantic knows what they are for.
        self._keys: dict[Any, tuple[str | None, bool]] = {}
        for name, field in self._fields.items():
            for rank, path in enumerate(_paths(name, field, config)):
                is_plain = len(path) == 1 and path[0] not in self._keys and field.get("init", True)
                self._keys[path[0]] = (name if is_plain else None, rank == 0)

    def child(self, step: str | int) -> Node | Refusal:
        name, is_first = self._keys.get(step, (None, None))
        if name is not None:
            node = self.part(self._fields[name]["schema"])
            return node if is_first else Around(self.types, None, self.config, node)
        if is_first is not None or not self._closed:
            return UNKNOWN if is_first is not None else self._extra
        return refuse_key(self._closed, str(step), list(self._keys))

    def accepts(self, key: str, value: Any) -> bool:
        """Return False if a Literal of this class says that the value belongs to another one."""
        node = self.child(key)
        return not isinstance(node, Listed) or not node.values or value in node.values

    def prepare(self, made: Any) -> Any:
        values = self.missing() if self.cls is not None else {}
        names: set[str] = set()
        extra = {}
        for key, value in made.items():
            name, is_first = self._keys.get(key, (None, False))
            if name is not None and (is_first or name not in names):
                values[name] = value
                names.add(name)
            elif name is None and self._extra is not UNKNOWN:
                extra[key] = value
        return values, names, extra

    def show(self, base: Any, step: str | int | None, inner: Any) -> Any:
        values, names, extra = base[0].copy(), base[1].copy(), base[2]
        if inner is not ABSENT:
            name, is_first = self._keys.get(step, (None, False))
            if name is not None and (is_first or name not in names):
                values[name] = inner
                names.add(name)
            elif name is None and self._extra is not UNKNOWN:
                extra = {**extra, step: inner}
        if self.cls is None:
            return {**values, **extra}
        return self._make(self.cls, values, names, {**extra} or None)

    def field_names(self, keys: Iterable[str]) -> dict[str, str]:
        names = {key: self._keys.get(key, (None, False))[0] for key in keys}
        return {key: name for key, name in names.items() if name is not None}

    def missing(self, around: tuple[Any, ...] = ()) -> dict[str, Any]:
        """Return the fields that have not come: their default, else None, or a zero."""
        if self._missing is None:
            fields = self._fields.items()
            self._missing = [(name, self._before(field["schema"])) for name, field in fields]
        return {name: make((*around, self.cls)) for name, make in self._missing}

    def _before(self, schema: Core) -> Callable[[tuple[Any, ...]], Any]:
        """Return what makes the value of a field that has not come."""
        if schema["type"] != "default":
            return self.part(schema).zero if self.types.zeros else lambda around: None
        factory, default = schema.get("default_factory"), schema.get("default")
        if factory is not None and not schema.get("default_factory_takes_data"):
            return lambda around: factory()
        return lambda around: deepcopy(default) if schema.get("copy_default") else default

    def zero(self, around: tuple[Any, ...] = ()) -> Any:
        if self.cls is not None:
            missing = None if self.cls in around else self.missing(around)
            return None if missing is None else self._make(self.cls, missing, set())
        required = {name: it for name, it in self._fields.items() if it.get("required", True)}
        return {name: self.part(it["schema"]).zero(around) for name, it in required.items()}


class Union(TypedNode):
    """Several types, of which one is left sooner or later; until then nothing is shown."""

    __slots__ = ("nodes", "tag", "tags")

    def __init__(self, types: Types, core: Core, config: Core, nodes: list[Node]) -> None:
        TypedNode.__init__(self, types, core, config, 0)
        self.nodes = nodes
        # The key that tells the types apart, if there is one, and the type of each of its values.
        self.tag: str | None = None
        self.tags: dict[Any, Node] = {}
        for node in nodes:
            self.kinds |= node.kinds
        strings = [node for node in nodes if node.kinds & STRING]
        if strings and all(node.texts is not None for node in strings):
            self.texts = sorted({text for node in strings for text in node.texts or ()})
            self.text_rule = strings[0].text_rule

    def open(self, kind: int) -> Node:
        return self._left([it for it in self.nodes if it.kinds & kind], kind)

    def _left(self, nodes: list[Node], kind: int) -> Node:
        if len(nodes) == 1:
            return nodes[0].open(kind)
        is_same = not nodes or len(nodes) == len(self.nodes)
        return self if is_same else Union(self.types, self.core, self.config, nodes)

    def child(self, step: str | int) -> Node | Refusal:
        if step != self.tag or not all(isinstance(it, str) for it in self.tags):
            return UNKNOWN
        tag = Unknown(STRING, sorted(self.tags))
        tag.is_judged = False
        tag.text_rule = "union_tag_invalid"
        return tag

    def narrow(self, step: str | int, value: Any) -> Node:
        if not isinstance(step, str):
            return self
        if self.tag is not None:
            is_tag = step == self.tag and isinstance(value, (str, int))
            return self.tags[value].open(OBJECT) if is_tag and value in self.tags else self
        fits = [it for it in self.nodes if not isinstance(it, Fields) or it.accepts(step, value)]
        return self._left(fits, OBJECT)

    def grow(self, text: str) -> Any:
        nodes = [it for it in self.nodes if it.kinds & STRING]
        return nodes[0].grow(text) if len(nodes) == 1 else ABSENT

    def zero(self, around: tuple[Any, ...] = ()) -> Any:
        zeros = [it.zero(around) for it in self.nodes]
        is_one = all(it is not None and it == zeros[0] for it in zeros)
        return zeros[0] if is_one and not _is_class(self.nodes[0]) else None


class Around(TypedNode):
    """A type inside of another one: a root model, or what a validator function stands on.

    With `is_certain` the inside is checked early, with `is_shown` it is shown before the end.
    Without a core schema it is only shown, as far as it fits, and never refused.
    """

    __slots__ = ("inner", "is_certain", "is_judge", "is_shown", "root_of")

    def __init__(
        self,
        types: Types,
        core: Core | None,
        config: Core,
        inner: Node,
        *,
        is_certain: bool = True,
        is_shown: bool = True,
        root_of: Any = None,
    ) -> None:
        TypedNode.__init__(self, types, core or {"type": "any"}, config)
        self.inner = inner
        self.is_judge = core is not None
        self.is_certain = is_certain and core is not None
        self.is_shown = is_shown
        self.root_of = root_of
        if self.is_certain:
            self.kinds, self.texts, self.text_rule = inner.kinds, inner.texts, inner.text_rule

    def _with(self, inner: Node) -> Node:
        """Return this node for the inside of a container."""
        shown, root = self.is_shown, self.root_of
        node = Around(self.types, None, self.config, inner, is_shown=shown, root_of=root)
        node.is_certain = self.is_certain
        return node

    def open(self, kind: int) -> Node:
        if not self.inner.kinds & kind:
            return UNKNOWN
        is_plain = self.is_certain and self.is_shown and self.root_of is None
        return self.inner.open(kind) if is_plain else self._with(self.inner.open(kind))

    def child(self, step: str | int) -> Node | Refusal:
        node = self.inner.child(step)
        if self.is_certain:
            return node
        return UNKNOWN if isinstance(node, Refusal) else Around(self.types, None, self.config, node)

    def narrow(self, step: str | int, value: Any) -> Node:
        inner = self.inner.narrow(step, value)
        return self if inner is self.inner else self._with(inner)

    def finish(self, value: Any, made: Any = None) -> tuple[Any, Refusal | None]:
        return (
            TypedNode.finish(self, value) if self.is_judge else (self.inner.finish(value)[0], None)
        )

    def grow(self, text: str) -> Any:
        is_text = bool(self.inner.kinds & STRING) and (
            not self.is_judge or self.root_of is not None
        )
        return self._wrap(self.inner.grow(text)) if is_text else ABSENT

    def prepare(self, made: Any) -> Any:
        return self.inner.prepare(made)

    def show(self, base: Any, step: str | int | None, inner: Any) -> Any:
        return self._wrap(self.inner.show(base, step, inner))

    def _wrap(self, shown: Any) -> Any:
        if shown is ABSENT or not self.is_shown:
            return ABSENT
        wrap = self.root_of is not None
        return partial_model(self.root_of, {"root": shown}, {"root"}) if wrap else shown

    def field_names(self, keys: Iterable[str]) -> dict[str, str]:
        return self.inner.field_names(keys)

    def zero(self, around: tuple[Any, ...] = ()) -> Any:
        zero = self.inner.zero(around)
        return zero if self.root_of is None else partial_model(self.root_of, {"root": zero}, set())


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
    return Refusal(first["type"], message, () if is_text else _path(first["loc"], value))


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
        yield name, {"required": core.get("total", True), **field}


def _paths(name: str, field: Core, config: Core) -> list[list[Any]]:
    """Return the paths at which pydantic looks for the value of a field, in order."""
    alias = field.get("validation_alias")
    if alias is None or not config.get("validate_by_alias", True):
        return [[name]]
    paths = alias if isinstance(alias, list) else [[alias]]
    paths = paths if isinstance(paths[0], list) else [paths]
    by_name = config.get("validate_by_name") or config.get("populate_by_name")
    return [*paths, [name]] if by_name else list(paths)
