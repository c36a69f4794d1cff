"""pydantic → nodes, read from the core schema, which is what pydantic itself executes.

Its own verdict rules, in JSON mode, as `model_validate_json` gives it: a kind of value is refused
early only where it would be, lax or strict as the field is. Whatever runs code of the user's before
the type is looked at (before, wrap and plain validators, `__init__`) and whatever is not known here
says nothing early and is validated when its value is complete.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from copy import deepcopy
from decimal import Decimal
from functools import partial
from typing import Any, Final

from .leaves import (
    LEAVES,
    Config,
    Core,
    enum,
    every_one,
    leaf,
    literal,
    mismatch,
    opaque,
    takes_as_is,
)
from .libraries import library
from .nodes import (
    ARRAY,
    BOOLEAN,
    EVERY,
    FRACTION,
    INTEGER,
    NO_KEY,
    NULL,
    OBJECT,
    STRING,
    Choice,
    Elements,
    Members,
    Node,
    Refusal,
    count,
    shown,
)
from .partials import has_only_fields
from .shapes import (
    CHOICE,
    CLASS,
    FIELDS,
    FUNCTION,
    ITEMS,
    ROOT,
    VALUES,
    WITHIN,
    FieldShape,
    TypeShape,
    zero,
)
from .validators import PydanticValidator, bounds_of, known_field, next_known

# For a type that was made without a configuration its own is not known: this one, which stands
# for any, and under which no part can be asked alone.
_UNKNOWN: Final[Config] = {"title": "unknown"}
# Validator functions inside of these look at their fields, and at no others.
_OWN_DATA: Final = frozenset(("model-fields", "typed-dict", "dataclass-args"))


def compile_type(source: Any) -> Node:
    """The node of a model class, a TypeAdapter, or a type; `ValueError` if pydantic takes none."""
    pydantic = library("pydantic")
    try:
        adapter, config = source, {}
        if isinstance(source, pydantic.TypeAdapter):
            config = _config_of(source)
        else:
            adapter = pydantic.TypeAdapter(source)
        adapter.validator  # noqa: B018  # a definition that is not complete shows here
        root = Compiler(adapter.core_schema, config).root
    except (pydantic.PydanticUserError, NameError) as error:
        raise ValueError(f"pydantic takes no such type: {str(error).splitlines()[0]}") from error
    root.full_validator = PydanticValidator(lambda: adapter)
    return root


class Compiler:
    """One core schema: its nodes by identity, each made once, so that it may refer to itself."""

    def __init__(self, core: Core, config: Config) -> None:
        self._definitions: dict[str, Core] = {}
        self._config = config
        self._nodes: dict[tuple[int, int], Node] = {}
        self._todo: list[tuple[Node, Core, Config]] = []
        # Nodes go by identity, so what they were made of must stay.
        self._kept: list[Any] = []
        self.root = self._node(core, config)
        while self._todo:
            self._fill(*self._todo.pop())

    def _node(self, core: Core, config: Config) -> Node:
        while core["type"] == "definitions":
            self._definitions.update((one["ref"], one) for one in core["definitions"])
            core = core["schema"]
        key = (id(core), id(config))
        node = self._nodes.get(key)
        if node is None:
            self._kept.append((core, config))
            node = self._nodes[key] = Node(full_validator=self._validator(core, config))
            self._todo.append((node, core, config))
        return node

    def _validator(self, core: Core, config: Config) -> PydanticValidator | None:
        if config is _UNKNOWN or self._needs_data(core):
            return None
        number = core
        while number["type"] in _AROUND or number["type"] == "default":
            number = number["schema"]
        return PydanticValidator(lambda: self._built(core, config), bounds=bounds_of(number))

    def _built(self, core: Core, config: Config, **how: Any) -> Any:
        from pydantic_core import SchemaValidator

        if self._definitions:
            name = core.get("ref")
            if core is self._definitions.get(name):  # it may refer to itself
                core = {"type": "definition-ref", "schema_ref": name}
            definitions = [*self._definitions.values()]
            core = {"type": "definitions", "schema": core, "definitions": definitions}
        settings: Any = config or None
        return SchemaValidator(core, settings, **how)

    def _needs_data(self, core: Core) -> bool:
        """True if a function reads the fields around it: this part cannot be validated alone."""
        return any(
            isinstance(function := part.get("function"), dict)
            and function.get("type") == "with-info"
            for part in self._each_part(core, into_fields=False)
        )

    def _fill(self, node: Node, core: Core, config: Config) -> None:
        name = core["type"]
        node.maker = shape = TypeShape()
        shape.functions = partial(self._has_functions, core)
        shape.zero = _ZEROS.get(name)
        if name in LEAVES:
            leaf(node, core, config)
        elif name in _SCALARS:
            _SCALARS[name](node, core, config)
        elif name in _READERS:
            _READERS[name](self, node, core, config)
        elif name != "any":
            opaque(node)
        if name == "any":
            shape.as_is, shape.grows = EVERY, True
        elif name in _AS_IS:
            shape.as_is = _AS_IS[name] if name != "str" or takes_as_is(core, config) else 0
            shape.grows = name == "str" and bool(shape.as_is)
        elif name == "literal" and all(type(value) is str for value in core["expected"]):
            shape.as_is = STRING
        elif name in _PREFILLED:
            shape.make_prefilled = partial(self._prefilled_validator, core, config)

    def _has_functions(self, core: Core) -> bool:
        """True if it calls a function somewhere, which may be one of the user's."""
        return any("function" in part for part in self._each_part(core, into_fields=True))

    def _each_part(self, core: Core, *, into_fields: bool) -> Iterator[Core]:
        """The core schema and those inside of it, each once."""
        todo: list[Any] = [core]
        seen = set()
        while todo:
            part = todo.pop()
            if isinstance(part, (list, tuple)):
                todo += part
            elif isinstance(part, dict) and id(part) not in seen:
                seen.add(id(part))
                yield part
                if part.get("type") == "definition-ref":
                    todo.append(self._definitions.get(part["schema_ref"]))
                elif into_fields or part.get("type") not in _OWN_DATA:
                    todo += [inner for key, inner in part.items() if key not in _NO_SCHEMAS]

    # Around a type

    def _inner(self, node: Node, core: Core, config: Config) -> None:
        """Exactly the schema inside."""
        self._within(node, self._node(core["schema"], config))
        node.is_described = True

    def _within(self, node: Node, inner: Node, role: str = WITHIN) -> None:
        node.all.append(inner)
        node.maker.role, node.maker.inner = role, inner

    def _default(self, node: Node, core: Core, config: Config) -> None:
        if core.get("on_error", "raise") == "raise":
            self._inner(node, core, config)

    def _after(self, node: Node, core: Core, config: Config) -> None:
        """The inside may refuse early; the function is called when the value is complete."""
        self._within(node, self._node(core["schema"], config), FUNCTION)
        opaque(node)

    def _before(self, node: Node, core: Core, config: Config) -> None:
        inner = self._node(core["schema"], config)
        opaque(node, inner)
        node.maker.role, node.maker.inner, node.maker.before = FUNCTION, inner, True

    def _chain(self, node: Node, core: Core, config: Config) -> None:
        node.all.append(self._node(core["steps"][0], config))
        opaque(node)

    def _json_or_python(self, node: Node, core: Core, config: Config) -> None:
        self._within(node, self._node(core["json_schema"], config))
        if core["json_schema"]["type"] not in _ZEROS:
            node.maker.zero = _no_zero  # what JSON says is not what the type is

    def _reference(self, node: Node, core: Core, config: Config) -> None:
        target = self._definitions.get(core["schema_ref"], {"type": "any"})
        self._within(node, self._node(target, self._config))
        node.is_described = True

    # Alternatives

    def _nullable(self, node: Node, core: Core, config: Config) -> None:
        null = Node(NULL)
        null.natural = NULL
        null.maker = TypeShape()
        null.maker.as_is = NULL
        self._choice(node, None, (null, self._node(core["schema"], config)))

    def _choice(self, node: Node, rule: str | None, nodes: tuple[Node, ...]) -> None:
        node.choices.append(Choice(rule, nodes))
        node.maker.role, node.maker.nodes = CHOICE, nodes

    def _union(self, node: Node, core: Core, config: Config) -> None:
        choices = [one[0] if isinstance(one, tuple) else one for one in core["choices"]]
        nodes = tuple(self._node(one, config) for one in choices)
        self._choice(node, "union", nodes)
        node.maker.in_order = core.get("mode") == "left_to_right"

    def _tagged_union(self, node: Node, core: Core, config: Config) -> None:
        choices = {tag: one for tag, one in core["choices"].items() if isinstance(one, dict)}
        nodes = {tag: self._node(one, config) for tag, one in choices.items()}
        # A class with two tags is one alternative.
        self._choice(node, "union", tuple(dict.fromkeys(nodes.values())))
        if isinstance(core["discriminator"], str):
            node.maker.tag, node.maker.tags = core["discriminator"], nodes

    # Arrays

    def _list(self, node: Node, core: Core, config: Config) -> None:
        self._sequence(node, core, config).maximum = core.get("max_length")
        node.is_described = True

    def _set(self, node: Node, core: Core, config: Config) -> None:
        """Here equal elements count once, so only the end tells how many there are."""
        self._sequence(node, core, config)
        if core.get("max_length") is not None or core.get("min_length") is not None:
            opaque(node)

    def _sequence(self, node: Node, core: Core, config: Config) -> Elements:
        elements = node.elements = Elements()
        if core.get("items_schema") is not None:
            elements.rest = self._node(core["items_schema"], config)
        elements.minimum = core.get("min_length") or 0
        elements.rules = ("too_short", "too_long")
        self._only(node, ARRAY)
        node.maker.role, node.maker.collect = ITEMS, _COLLECTIONS[core["type"]]
        return elements

    def _tuple(self, node: Node, core: Core, config: Config) -> None:
        elements = node.elements = Elements()
        elements.rules = ("too_short", "too_long")
        items, many = core["items_schema"], core.get("variadic_item_index")
        fixed = items if many is None else items[:many]
        elements.prefix = [self._node(item, config) for item in fixed]
        if many is None:
            elements.closed = Refusal("too_long", f"more than {count(len(items), 'item')}")
            if not any(self._may_be_missing(item) for item in items):
                elements.minimum = len(items)
            node.maker.zero = lambda: _zeros_of(elements.prefix)
        elif many == len(items) - 1:
            elements.rest = self._node(items[many], config)
            node.maker.collect = tuple
        node.maker.role = ITEMS
        self._only(node, ARRAY)

    def _only(self, node: Node, kind: int) -> None:
        node.kinds = node.natural = kind
        node.mismatch = partial(mismatch, node.full_validator)

    # Objects

    def _dict(self, node: Node, core: Core, config: Config) -> None:
        members = node.members = Members()
        members.rules = ("missing", "too_short", "too_long")
        if core.get("values_schema") is not None:
            members.additional = self._node(core["values_schema"], config)
        self._only(node, OBJECT)
        node.maker.role = VALUES
        keys = core.get("keys_schema") or {"type": "any"}
        if keys["type"] == "any" or every_one(keys, config) == STRING:
            members.maximum = core.get("max_length")
            members.minimum = core.get("min_length") or 0
            return
        # Different keys may become equal ones; and a key is read otherwise than a string.
        if core.get("max_length") is not None or core.get("min_length") is not None:
            opaque(node)
        if config is not _UNKNOWN and not self._needs_data(keys):
            lone = {"type": "dict", "keys_schema": keys}
            members.names = PydanticValidator(lambda: self._built(lone, config), _as_key)
            node.maker.keys = members.names.key

    def _model(self, node: Node, core: Core, config: Config) -> None:
        inner = self._node(core["schema"], core.get("config") or _UNKNOWN)
        shape = node.maker
        shape.role, shape.inner = ROOT if core.get("root_model") else CLASS, inner
        shape.cls = core["cls"]
        if core.get("custom_init"):
            opaque(node, inner)
            shape.before = True
        else:
            node.all.append(inner)
            if core["schema"]["type"] in _OWN_DATA:
                self._only(node, OBJECT)
            is_model = core["schema"]["type"] == "model-fields" and not core.get("post_init")
            shape.is_plain = is_model and has_only_fields(core["cls"])

    def _fields(self, node: Node, core: Core, config: Config) -> None:
        """The fields of a model, a TypedDict or a dataclass, by the keys they are sent with."""
        if core["type"] == "typed-dict":
            config = core.get("config") or _UNKNOWN
        members = node.members = Members()
        members.rules = ("missing", "too_short", "too_long")
        self._only(node, OBJECT)
        self._extra(members, core, config)
        fields = [(name, field, _lookups(name, field, config)) for name, field in _each_field(core)]
        users = Counter(key for _, _, paths in fields for key in {path[0] for path in paths})
        shape = node.maker
        shape.role = FIELDS
        shape.make_alone = partial(self._made_alone, core, config)
        shape.extra = _extra_behavior(core, config) == "allow"
        for name, field, paths in fields:
            value = self._node(field["schema"], config)
            nodes = (value,) if field.get("init", True) else ()
            _look_up(members, paths, nodes, users)
            if nodes and field.get("required", True) and not self._may_be_missing(field["schema"]):
                keys = frozenset(path[0] for path in paths)
                members.required.append((keys, f"{shown(paths[0][0])} is missing"))
            default = self._default_of(field["schema"], config)
            shape.fields.append(FieldShape(name, value, default, field.get("required", True)))
            for rank, path in enumerate(paths if nodes else ()):
                # A path into another value is looked up when all is complete.
                if len(path) == 1:
                    shape.names.setdefault(path[0], []).append((name, value, rank))
                else:
                    shape.deep.add(path[0])

    def _default_of(self, core: Core, config: Config) -> Callable[[], Any] | None:
        """Makes the default of a field; None if it has none, or one that needs other fields."""
        if core["type"] != "default" or core.get("default_factory_takes_data"):
            return None
        if core.get("validate_default", config.get("validate_default")):
            if config is _UNKNOWN or self._needs_data(core):
                return None
            validator = PydanticValidator(lambda: self._built(core, config))
            return validator.default
        if core.get("default_factory") is not None:
            factory: Callable[[], Any] = core["default_factory"]
            return factory
        return lambda: deepcopy(core["default"]) if core.get("copy_default") else core["default"]

    def _extra(self, members: Members, core: Core, config: Config) -> None:
        """Keys that are no fields."""
        extra = _extra_behavior(core, config)
        if extra == "forbid":
            is_dataclass = core["type"] == "dataclass-args"
            rule = "unexpected_keyword_argument" if is_dataclass else "extra_forbidden"
            members.closed = Refusal(rule, NO_KEY)
        elif extra == "allow" and core.get("extras_schema") is not None:
            members.additional = self._node(core["extras_schema"], config)

    # Complete parts are not validated again when the value around them closes.

    def _prefilled_validator(self, core: Core, config: Config) -> Any:
        """The validator of a container that takes its parts as they are; None if there is none."""
        prefilled = self._prefilled(core)
        if prefilled is None:
            return None
        try:
            # Otherwise it would be the validator that the class has already.
            return self._built(prefilled, config, _use_prebuilt=False)
        except TypeError:
            return None  # a pydantic that cannot do without

    def _made_alone(self, core: Core, config: Config, name: str) -> Any:
        """The prefilled validator of the fields up to this one, which looks at those before it."""
        fields = list(_each_field(core))
        at = [field_name for field_name, _ in fields].index(name)
        upto: Any = dict(fields[: at + 1])
        if core["type"] == "dataclass-args":
            upto = list(upto.values())
        core = {**core, "fields": upto, "extra_behavior": "ignore"}
        return None if config is _UNKNOWN else self._prefilled_validator(core, config)

    def _prefilled(self, core: Core) -> Core | None:
        """The core schema with parts that are known already; None if a function needs them all."""
        name = core["type"]
        core = {key: value for key, value in core.items() if key != "ref"}
        if name == "definition-ref":
            target = self._definitions.get(core["schema_ref"])
            return None if target is None else self._prefilled(target)
        if name in _PREFILLED_AROUND and not core.get("custom_init"):
            inner = self._prefilled(core["schema"])
            return None if inner is None else {**core, "schema": inner}
        if name in ("model-fields", "typed-dict"):
            fields = {key: _known_field(key, field) for key, field in core["fields"].items()}
            return {**core, "fields": fields}
        if name == "dataclass-args":
            return {**core, "fields": [_known_field(it["name"], it) for it in core["fields"]]}
        if name == "tuple":
            return {
                **core,
                "items_schema": [_known(next_known, one) for one in core["items_schema"]],
            }
        key = {"dict": "values_schema"}.get(name, "items_schema")
        if name in _COLLECTIONS or name == "dict":
            return {**core, key: _known(next_known, core.get(key) or {"type": "any"})}
        return None

    def _may_be_missing(self, core: Core) -> bool:
        """True if there is, or might be, a default."""
        seen = set()
        while id(core) not in seen:
            seen.add(id(core))
            name = core["type"]
            if name == "definition-ref":
                core = self._definitions.get(core["schema_ref"], {"type": "default"})
            elif name in _AROUND or core.get("root_model"):
                core = core["schema"]
            else:
                return name not in LEAVES and name not in _WITHOUT_DEFAULT
        return True


_SCALARS: Final = {"literal": literal, "enum": enum}
# The kinds of which these types take a complete value as it is.
_AS_IS: Final = {
    "str": STRING,
    "int": INTEGER,
    "float": FRACTION,
    "bool": BOOLEAN,
    "none": NULL,
}
_ZEROS: Final[dict[str, Callable[[], Any]]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "bytes": bytes,
    "decimal": Decimal,
    "list": list,
    "set": set,
    "frozenset": frozenset,
    "dict": dict,
    "tuple": tuple,
    "deque": deque,
    "counter": Counter,
    "ordered-dict": OrderedDict,
}
# Parts of a core schema in which no schemas are that validate.
_NO_SCHEMAS: Final = frozenset(("serialization", "metadata", "python_schema", "default", "config"))
# Containers, and what may be around them without a look at what they were made of.
_PREFILLED_AROUND: Final = frozenset(
    ("function-after", "custom-error", "nullable", "default", "model", "dataclass")
)
_COLLECTIONS: Final[dict[str, Callable[[list[Any]], Any]]] = {
    "list": list,
    "set": set,
    "frozenset": frozenset,
}
_PREFILLED: Final = frozenset(
    (*_PREFILLED_AROUND, *_COLLECTIONS, "tuple", "dict", "typed-dict", "definition-ref")
)
_READERS: Final[dict[str, Callable[[Compiler, Node, Core, Config], None]]] = {
    "custom-error": Compiler._inner,
    "default": Compiler._default,
    "function-after": Compiler._after,
    "function-before": Compiler._before,
    "function-wrap": Compiler._before,
    "chain": Compiler._chain,
    "json-or-python": Compiler._json_or_python,
    "definition-ref": Compiler._reference,
    "nullable": Compiler._nullable,
    "union": Compiler._union,
    "tagged-union": Compiler._tagged_union,
    "list": Compiler._list,
    "set": Compiler._set,
    "frozenset": Compiler._set,
    "tuple": Compiler._tuple,
    "dict": Compiler._dict,
    "model": Compiler._model,
    "dataclass": Compiler._model,
    "model-fields": Compiler._fields,
    "typed-dict": Compiler._fields,
    "dataclass-args": Compiler._fields,
}
_AROUND: Final = frozenset(
    ("nullable", "custom-error", "function-after", "function-before", "function-wrap")
)
_WITHOUT_DEFAULT: Final = frozenset(
    ("any", "literal", "enum", "list", "set", "frozenset", "tuple", "dict", "model", "dataclass",
     "typed-dict", "union", "tagged-union", "function-plain")
)  # fmt: skip


def _each_field(core: Core) -> Iterator[tuple[str, Core]]:
    if core["type"] == "dataclass-args":
        yield from ((field["name"], field) for field in core["fields"])
        return
    for name, field in core["fields"].items():
        if core["type"] == "typed-dict" and "required" not in field:
            field = {**field, "required": core.get("total", True)}
        yield name, field


def _lookups(name: str, field: Core, config: Config) -> list[list[Any]]:
    """The paths at which pydantic looks for the value of a field, in order."""
    alias = field.get("validation_alias")
    by_name = config.get("validate_by_name") or config.get("populate_by_name")
    paths: list[list[Any]] = []
    if alias is not None and config.get("validate_by_alias", True):
        several = isinstance(alias, list) and isinstance(alias[0], list)
        paths = list(alias) if several else [alias if isinstance(alias, list) else [alias]]
    if not paths or by_name:
        paths.append([name])
    return paths


def _look_up(
    members: Members, paths: list[list[Any]], nodes: tuple[Node, ...], users: Counter[str]
) -> None:
    """The first of the places that is there is looked at; what is at another is an extra key."""
    for place, (key, *deeper) in enumerate(paths):
        known = members.properties.get(key, ())
        is_certain = place == 0 or (members.closed is not None and users[key] == 1)
        members.properties[key] = known if deeper or not is_certain else known + nodes


def _extra_behavior(core: Core, config: Config) -> Any:
    return core.get("extra_behavior") or config.get("extra_fields_behavior")


def _known_field(name: str, field: Core) -> Core:
    """A field that takes what is known of it; its default stays outside."""
    schema = field["schema"]
    take = partial(known_field, name)
    if schema["type"] == "default":
        return {**field, "schema": {**schema, "schema": _known(take, schema["schema"])}}
    return {**field, "schema": _known(take, schema)}


def _known(function: Callable[..., Any], schema: Core) -> Core:
    return {
        "type": "function-wrap",
        "function": {"type": "with-info", "function": function},
        "schema": schema,
    }


def _no_zero() -> None:
    return None


def _zeros_of(nodes: list[Node]) -> tuple[Any, ...] | None:
    """The zero of a tuple of these; None if one of them has none."""
    zeros = tuple(zero(node) for node in nodes)
    return None if None in zeros else zeros


def _as_key(key: str) -> dict[str, None]:
    return {key: None}


def _config_of(adapter: Any) -> Config:
    """The configuration a TypeAdapter was given; older ones do not tell. A model has its own."""
    own = getattr(adapter, "_config", _UNKNOWN)
    if not own or own is _UNKNOWN:
        return own or {}
    from pydantic._internal._config import ConfigWrapper

    config: Any = ConfigWrapper(own).core_config(None)
    return dict(config)
