"""A pydantic type as nodes, read from its core schema, which is what pydantic executes.

pydantic judges complete values, in JSON mode, as `model_validate_json` does. The nodes say only
what may be shown before the end, and what lax mode refuses whatever follows. A type that is not
in the tables is shown when it is complete.

A partial instance belongs to a subclass, `Partial[Trip]`, that is made when it is first needed.
Making one runs no code of the class: no `__init__`, no validator, no `__init_subclass__`.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, Iterable
from copy import deepcopy
from decimal import Decimal
from enum import Enum
from functools import reduce
from operator import or_
from typing import Any, Final, NamedTuple, cast

from ..jsontext import dumps
from ..paths import ABSENT, Path
from .check import ANY, NAMES, UNKNOWN, Kind, Node, Result, kind_of, with_child
from .errors import Refusal, library, quote, refuse_key

Core = dict[str, Any]

_TIMES: Final = ("date", "time", "datetime", "timedelta")
_ARRAYS: Final = ("list", "set", "frozenset", "tuple")
_FIELDS: Final = ("model-fields", "dataclass-args", "typed-dict")
# The kinds that lax mode may convert to each type.
_KINDS: Final = {
    "none": Kind.NULL,
    **dict.fromkeys(("bool", "int", "float"), Kind.STRING | Kind.NUMBER | Kind.BOOLEAN),
    **dict.fromkeys(("decimal", *_TIMES), Kind.STRING | Kind.NUMBER),
    **dict.fromkeys(("str", "bytes", "uuid", "url", "multi-host-url", "json"), Kind.STRING),
    **dict.fromkeys(_ARRAYS, Kind.ARRAY),
    **dict.fromkeys(("dict", *_FIELDS), Kind.OBJECT),
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
_FUNCTIONS: Final = frozenset(("function-before", "function-wrap", "function-after"))
_CLASSES: Final = frozenset(("model", "dataclass"))
# Types that are another one, in JSON mode.
_SAME: Final = {"custom-error": "schema", "default": "schema", "json-or-python": "json_schema"}
# A value of each kind.
_SAMPLES: Final[dict[int, Any]] = dict(zip(NAMES, (None, True, 0, "", [], {}), strict=True))
_CACHE: Final = "__jsonrill_partial__"
_new: Final = object.__new__
_put: Final = object.__setattr__


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
    root = types.node(types.root, config)
    if root is UNKNOWN:
        root = TypedNode(types, Layers(types.root, types.root, config))
    return root


class Layers(NamedTuple):
    """A core schema, and what is inside the classes and functions around it.

    With `has_code`, functions of the user see the value, with `is_quiet` before pydantic does.
    """

    core: Core
    inner: Core
    config: Core
    cls: Any = None
    root_of: Any = None
    has_code: bool = False
    is_quiet: bool = False


class Types:
    """The core schema of one type: makes each node when it is first needed."""

    def __init__(self, core: Core, zeros: bool) -> None:
        self.zeros = zeros
        self._definitions: dict[str, Core] = {}
        # By identity, with what each was made of, so that identities stay unique.
        self._nodes: dict[tuple[int, int, bool], tuple[Node, Core, Core]] = {}
        while core["type"] == "definitions":
            self._definitions.update((part["ref"], part) for part in core["definitions"])
            core = core["schema"]
        self.root = core

    def node(self, core: Core | None, config: Core, is_quiet: bool = False) -> Node:
        """Return the node of a core schema; with `is_quiet` as part of a quiet node."""
        if core is None:
            return ANY
        core = self._same(core)
        key = (id(core), id(config), is_quiet)
        if key not in self._nodes:
            self._nodes[key] = (self._make(core, config, is_quiet), core, config)
        return self._nodes[key][0]

    def _make(self, core: Core, config: Core, is_quiet: bool) -> Node:
        if core["type"] == "any":
            return ANY
        if _needs_other_fields(core):
            return UNKNOWN
        layers = self._layers(core, config, is_quiet)
        return _NODES.get(layers.inner["type"], TypedNode)(self, layers)

    def _same(self, core: Core) -> Core:
        """Return the core schema that this one refers to, or is the same as."""
        while True:
            if core["type"] == "definition-ref":
                core = self._definitions[core["schema_ref"]]
            elif core["type"] in _SAME and core.get("on_error", "raise") == "raise":
                core = core[_SAME[core["type"]]]
            else:
                return core

    def _layers(self, core: Core, config: Core, is_quiet: bool) -> Layers:
        inner = core
        cls = root_of = None
        has_code = False
        while inner["type"] in _FUNCTIONS or inner["type"] in _CLASSES:
            if inner["type"] in _FUNCTIONS:
                has_code = True
                is_quiet = is_quiet or inner["type"] != "function-after"
            elif inner.get("root_model"):
                root_of = inner["cls"]
            else:
                cls = inner["cls"]
            is_quiet = is_quiet or bool(inner.get("custom_init"))
            config = inner.get("config") or config
            inner = self._same(inner["schema"])
        config = inner.get("config") or config
        return Layers(core, inner, config, cls, root_of, has_code, is_quiet)

    def validator(self, core: Core, config: Core) -> Any:
        """Return pydantic's validator of a part of the type."""
        from pydantic_core import SchemaValidator

        if self._definitions:
            if core is self._definitions.get(str(core.get("ref"))):  # it may refer to itself
                core = {"type": "definition-ref", "schema_ref": core["ref"]}
            definitions = [*self._definitions.values()]
            core = {"type": "definitions", "schema": core, "definitions": definitions}
        settings: Any = config or None
        return SchemaValidator(core, settings)


class TypedNode(Node):
    """A type; the class itself is one whose parts are not known, as a number or a date."""

    __slots__ = ("_layers", "_root_of", "_shape", "_types", "_unchanged", "_validator", "inner",
                 "is_hidden")  # fmt: skip

    def __init__(self, types: Types, layers: Layers) -> None:
        inner, config = layers.inner, layers.config
        name = inner["type"]
        # The kind of value whose inside this node knows.
        self._shape = _KINDS.get(name, Kind.EVERY)
        Node.__init__(self, Kind.EVERY if layers.is_quiet else self._shape)
        self.is_quiet = layers.is_quiet
        self._types, self._layers, self.inner = types, layers, inner
        self._validator: Any = None
        # The class of partial instances of a root model around the type.
        self._root_of = layers.root_of and partial_class(layers.root_of)
        self.is_plain = False
        if self.kinds == Kind.STRING and config.get("coerce_numbers_to_str"):
            self.kinds |= Kind.NUMBER
        changes = any(inner.get(rule, config.get(f"str_{rule}")) for rule in _CHANGES_TEXT)
        # True if the value is shown when it is complete.
        self.is_hidden = name != "str" or changes or layers.has_code
        has_rules = any(key.startswith(("str_", "allow_inf")) for key in config)
        is_plain = layers.core is inner and not has_rules and _NO_RULES.issuperset(inner)
        # The Python type of values that pydantic neither changes nor refuses.
        self._unchanged = _UNCHANGED.get(name) if is_plain else None

    @property
    def _judge(self) -> Any:
        if self._validator is None:
            self._validator = self._types.validator(self._layers.core, self._layers.config)
        return self._validator

    def part(self, core: Core | None) -> Node:
        """Return the node of a part of this type."""
        return self._types.node(core, self._layers.config, self.is_quiet)

    def refuse_kind(self, kind: int) -> Refusal:
        refusal = judge(self._judge, _SAMPLES[kind], NAMES[kind])[1]
        return Node.refuse_kind(self, kind) if refusal is None else refusal._replace(path=())

    def choose(self, container: Any, step: str | int | None) -> Node:
        return self if self._shape & kind_of(container) else UNKNOWN

    def child(self, step: str | int) -> Node | Refusal:
        return UNKNOWN

    def finish(self, value: Any, made: list[Any] | None = None) -> Result:
        return (value, None) if type(value) is self._unchanged else judge(self._judge, value)

    def close(self, value: Any) -> Result:
        return judge(self._judge, value, is_whole=True)

    def show(self, text: str) -> Any:
        if self.is_hidden or not self._shape & Kind.STRING:
            return ABSENT
        return text if self._root_of is None else self._as_root(text)

    def fill(self, gathered: Any, step: str | int | None, inner: Any) -> Any:
        return ABSENT if self.is_hidden else self._as_root(with_child(gathered, step, inner))

    def _as_root(self, shown: Any) -> Any:
        if self._root_of is None:
            return shown
        return partial_model(self._root_of, {"root": shown}, {"root"}, None)

    def zero(self) -> Any:
        make = _ZEROS.get(self.inner["type"])
        return None if make is None else make()


class Listed(TypedNode):
    """A Literal or an Enum: its strings are known, other values are left to pydantic."""

    __slots__ = ("values",)

    def __init__(self, types: Types, layers: Layers) -> None:
        TypedNode.__init__(self, types, layers)
        inner = layers.inner
        is_literal = inner["type"] == "literal"
        values = inner["expected"] if is_literal else inner["members"]
        self.values = [value.value if isinstance(value, Enum) else value for value in values]
        is_simple = all(type(value) in (str, int, bool, type(None)) for value in self.values)
        is_number = inner.get("sub_type") in ("int", "float")
        if not is_simple or inner.get("missing") or is_number or layers.is_quiet:
            return
        # true equals 1, and 1.0 equals 1.
        number = Kind.NUMBER | Kind.BOOLEAN
        kinds = [number if isinstance(value, int) else kind_of(value) for value in self.values]
        coerced = Kind.NUMBER if layers.config.get("coerce_numbers_to_str") else 0
        self.kinds = reduce(or_, kinds, coerced)
        self.texts = sorted(value for value in self.values if isinstance(value, str))
        self.text_rule = "literal_error" if is_literal else "enum"

    def finish(self, value: Any, made: list[Any] | None = None) -> Result:
        result, refusal = judge(self._judge, value)
        return result, refusal and refusal._replace(allowed=tuple(self.values))


class Items(TypedNode):
    """A list, set, frozenset or tuple; all but a list are shown when they are complete."""

    __slots__ = ("_first", "_rest")

    def __init__(self, types: Types, layers: Layers) -> None:
        TypedNode.__init__(self, types, layers)
        inner = layers.inner
        self.is_hidden = inner["type"] != "list" or layers.has_code
        self.is_plain = not self.is_hidden and self._root_of is None
        # The types of the first elements, and of the others; None if it is not known.
        self._first: list[Core] = []
        self._rest: Core | None = inner.get("items_schema", {"type": "any"})
        if isinstance(self._rest, list):
            many = inner.get("variadic_item_index")
            is_last = many == len(self._rest) - 1
            self._first, self._rest = self._rest[:many], self._rest[-1] if is_last else None

    def child(self, step: str | int) -> Node | Refusal:
        assert isinstance(step, int)
        if step < len(self._first):
            return self.part(self._first[step])
        return UNKNOWN if self._rest is None else self.part(self._rest)

    def finish(self, value: Any, made: list[Any] | None = None) -> Result:
        is_plain = not self.is_hidden and _NO_RULES.issuperset(self._layers.core)
        if is_plain and made is not None and not any(item is ABSENT for item in made):
            return made, None
        return judge(self._judge, value)


class Members(TypedNode):
    """A dict; if its keys are not plain strings it is shown when it is complete."""

    __slots__ = ()

    def __init__(self, types: Types, layers: Layers) -> None:
        TypedNode.__init__(self, types, layers)
        keys = layers.inner.get("keys_schema") or {"type": "any"}
        has_text_keys = keys["type"] in ("any", "str") and _NO_RULES.issuperset(keys)
        self.is_hidden = layers.has_code or not has_text_keys
        self.is_plain = not self.is_hidden and self._root_of is None

    def child(self, step: str | int) -> Node | Refusal:
        return self.part(self.inner.get("values_schema"))


class Fields(TypedNode):
    """A model, a dataclass or a TypedDict: named fields."""

    __slots__ = ("_build", "_closed", "_defaults", "_extra", "_fields", "_fresh", "_names",
                 "_partial", "cls")  # fmt: skip

    def __init__(self, types: Types, layers: Layers) -> None:
        TypedNode.__init__(self, types, layers)
        inner, config = layers.inner, layers.config
        # A TypedDict is shown as a dict with the keys that have come.
        self.cls = layers.cls
        self._partial = self.cls and partial_class(self.cls)
        is_model = hasattr(self.cls, "model_construct")
        self._build = partial_model if is_model else partial_dataclass
        self.is_hidden = self.cls is None and layers.has_code
        is_call = inner["type"] == "dataclass-args"
        fields = inner["fields"]
        self._fields: dict[str, Core] = {f["name"]: f for f in fields} if is_call else fields
        extra = inner.get("extra_behavior") or config.get("extra_fields_behavior")
        rule = "unexpected_keyword_argument" if is_call else "extra_forbidden"
        self._closed = rule if extra == "forbid" and not self.is_quiet else ""
        self._extra = self.part(inner.get("extras_schema")) if extra == "allow" else UNKNOWN
        # The values of fields that have not come, and the fields that need a new value each time.
        self._defaults: dict[str, Any] = dict.fromkeys(self._fields)
        self._fresh: list[str] = []
        for name, field in self._fields.items():
            schema = field["schema"]
            if "default" in schema and not schema.get("copy_default"):
                self._defaults[name] = schema["default"]
            elif schema["type"] == "default" or types.zeros:
                self._fresh.append(name)
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

    def gather(self, children: Any) -> Any:
        """Return the values by field, the names of the fields that have come, and other members."""
        values = {} if self.cls is None else self._defaults.copy()
        names = set()
        extra = {}
        for key, value in children.items():
            name = self._names.get(key)
            if name is None:
                extra[key] = value
            else:
                names.add(name)
                values[name] = value
        return values, names, extra

    def fill(self, gathered: Any, step: str | int | None, inner: Any) -> Any:
        if self.is_hidden:
            return ABSENT
        values, names, extra = gathered
        values = values.copy()
        names = names.copy()
        name = self._names.get(step)
        if name is not None and inner is not ABSENT:
            values[name] = inner
            names.add(name)
        elif inner is not ABSENT:
            extra = {**extra, step: inner}
        if self.cls is None:
            return {**values, **extra}
        return self._as_root(self._instance(values, names, extra))

    def _instance(self, values: dict[str, Any], names: set[str], extra: dict[str, Any]) -> Any:
        """Return a partial instance; `names` are the fields that have come."""
        for name in self._fresh:
            if name not in names:
                values[name] = self._missing(self._fields[name]["schema"])
        return self._build(self._partial, values, names, extra or None)

    def _missing(self, schema: Core) -> Any:
        """Return the value of a field that has not come: its default, else None, or a zero."""
        if schema["type"] == "default":
            if schema.get("default_factory") and not schema.get("default_factory_takes_data"):
                return schema["default_factory"]()
            return deepcopy(schema.get("default"))
        while schema["type"] in _FUNCTIONS:
            schema = schema["schema"]
        return self.part(schema).zero() if self._types.zeros else None

    def field_names(self, keys: Iterable[str]) -> dict[str, str]:
        return {key: name for key in keys if (name := self._names.get(key)) is not None}

    def zero(self) -> Any:
        return None if self.cls is None else self._instance(self._defaults.copy(), set(), {})


class Union(TypedNode):
    """Several types; nothing is shown until only one of them is possible."""

    __slots__ = ("_nodes", "_tag", "_tags")

    def __init__(self, types: Types, layers: Layers) -> None:
        TypedNode.__init__(self, types, layers)
        inner = layers.inner
        # A union with a validator, or as the root of a model, is shown when it is complete.
        self.is_hidden = layers.has_code or layers.root_of is not None
        # The key that tells the types apart, if there is one, and the type of each of its values.
        self._tag: str | None = None
        self._tags: dict[Any, Node] = {}
        if inner["type"] == "nullable":
            self._nodes = [Node(Kind.NULL), self.part(inner["schema"])]
        elif inner["type"] == "union":
            choices = [item[0] if isinstance(item, tuple) else item for item in inner["choices"]]
            self._nodes = [self.part(choice) for choice in choices]
        else:
            choices = inner["choices"].items()
            self._tags = {tag: self.part(part) for tag, part in choices if isinstance(part, dict)}
            self._nodes = list(self._tags.values())
            if isinstance(inner["discriminator"], str):
                self._tag = inner["discriminator"]
        self.kinds = reduce(or_, (node.kinds for node in self._nodes))
        strings = [node for node in self._nodes if node.kinds & Kind.STRING]
        if strings and all(node.texts is not None for node in strings):
            self.texts = sorted({text for node in strings for text in node.texts or ()})
            self.text_rule = strings[0].text_rule
        if self.is_quiet:
            self.kinds, self.texts = Kind.EVERY, None

    def choose(self, container: Any, step: str | int | None) -> Node:
        nodes = [node for node in self._nodes if node.kinds & kind_of(container)]
        if self._tag is not None:
            tag = container.get(self._tag) if isinstance(container, dict) else None
            is_known = step != self._tag and isinstance(tag, (str, int)) and tag in self._tags
            nodes = [self._tags[tag]] if is_known else []
        elif len(nodes) > 1 and isinstance(container, dict):
            nodes = [n for n in nodes if not isinstance(n, Fields) or n.may_be(container, step)]
        return self if self.is_hidden or len(nodes) != 1 else nodes[0].choose(container, step)

    def child(self, step: str | int) -> Node | Refusal:
        is_tag = step == self._tag and all(isinstance(tag, str) for tag in self._tags)
        if not is_tag or self.is_quiet:
            return UNKNOWN
        return Node(Kind.STRING, sorted(self._tags), "union_tag_invalid")

    def show(self, text: str) -> Any:
        nodes = [node for node in self._nodes if node.kinds & Kind.STRING]
        return nodes[0].show(text) if len(nodes) == 1 and not self.is_hidden else ABSENT

    def fill(self, gathered: Any, step: str | int | None, inner: Any) -> Any:
        return ABSENT

    def zero(self) -> Any:
        return None


_NODES: Final[dict[str, type[TypedNode]]] = {
    "dict": Members,
    **dict.fromkeys(_FIELDS, Fields),
    **dict.fromkeys(("literal", "enum"), Listed),
    **dict.fromkeys(_ARRAYS, Items),
    **dict.fromkeys(("nullable", "union", "tagged-union"), Union),
}


def judge(validator: Any, value: Any, name: str = "", *, is_whole: bool = False) -> Result:
    """Return pydantic's result for a complete value, or its error.

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
    part: Any = core
    while isinstance(part, dict) and part["type"] not in _CLASSES:
        inner, function = part.get("schema"), part.get("function")
        if isinstance(function, dict) and function.get("type") == "with-info":
            return not isinstance(inner, dict) or inner["type"] not in _CLASSES
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

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _restore, (self.__partial_of__, self.__getstate__())


class PartialModel(PartialInstance):
    """A partial instance of a pydantic model, which can be dumped before it is complete."""

    __slots__ = ()

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """Dump without warnings, and without computed fields if one fails."""
        return cast("dict[str, Any]", self._dump(cast(Any, super()).model_dump, options))

    def model_dump_json(self, **options: Any) -> str:
        """Dump without warnings, and without computed fields if one fails."""
        return cast("str", self._dump(cast(Any, super()).model_dump_json, options))

    def _dump(self, dump: Callable[..., Any], options: dict[str, Any]) -> Any:
        options = {"warnings": False, **options}
        try:
            return dump(**options)
        except Exception:  # a computed field needs what has not come
            computed = cast(Any, type(self)).model_computed_fields
            return dump(**{**options, "exclude": {*(options.get("exclude") or ()), *computed}})

    def __repr_args__(self) -> Any:
        """Leave out computed fields, which may need what has not come."""
        fields = cast(Any, type(self)).model_fields
        yield from ((name, self.__dict__[name]) for name in fields if fields[name].repr)
        yield from (getattr(self, "__pydantic_extra__", None) or {}).items()


def partial_class(cls: Any) -> Any:
    """Return the class of partial instances of a class: `Partial[…]`, a subclass."""
    known = cls.__dict__.get(_CACHE)
    if known is None:
        bases = (PartialModel if hasattr(cls, "model_construct") else PartialInstance, cls)
        name = f"Partial[{cls.__name__}]"
        space = {"__module__": cls.__module__, "__qualname__": name, "__partial_of__": cls}
        meta: Any = type(cls)
        # Calling the metaclass of a model would build its schema once more.
        make = ABCMeta.__new__ if issubclass(meta, ABCMeta) else type.__new__
        known = make(meta, name, bases, space)
        type.__setattr__(cls, _CACHE, known)
    return known


def partial_model(cls: Any, values: dict[str, Any], names: set[str], extra: Any) -> Any:
    """Return an instance of a partial class of a model; `names` are the fields that have come."""
    instance = _new(cls)
    private = cls.__private_attributes__
    if private:
        private = {name: attribute.get_default() for name, attribute in private.items()}
    _put(instance, "__dict__", values)
    _put(instance, "__pydantic_fields_set__", names)
    _put(instance, "__pydantic_extra__", extra)
    _put(instance, "__pydantic_private__", private or None)
    return instance


def partial_dataclass(cls: Any, values: dict[str, Any], *unused: Any) -> Any:
    """Return an instance of a partial class of a dataclass."""
    instance = _new(cls)
    for name, value in values.items():
        _put(instance, name, value)
    return instance


def _restore(cls: Any, state: Any) -> Any:
    """Return a copy of a partial instance, from its state."""
    instance = _new(partial_class(cls))
    if hasattr(instance, "__setstate__"):
        instance.__setstate__(state)
        return instance
    for part in state if isinstance(state, tuple) else (state,):
        for name, value in (part or {}).items():
            _put(instance, name, value)
    return instance
