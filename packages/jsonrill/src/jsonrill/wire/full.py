"""The full wire form: each fragment as a JSON object with its path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import FragmentError
from ..paths import Path, format_path, parse_path
from .foreign import Dialect, check_dialect, from_juf
from .fragment import CODES, Fragment, Kind, checked, is_double


def to_wire(fragment: Fragment) -> dict[str, Any]:
    """The full wire form, a dict for JSON: `{"path": "root.a", "kind": "Key", "value": "b"}`."""
    wire: dict[str, Any] = {"path": format_path(fragment.path), "kind": fragment.kind}
    if fragment.text is not None:
        wire["textValue"] = fragment.text
    if fragment.kind == "CompleteNumber" and not is_double(fragment.value):
        wire.setdefault("textValue", repr(fragment.value))
    elif fragment.value is not None:
        wire["value"] = fragment.value
    return wire


def from_wire(wire: Mapping[str, Any], *, dialect: Dialect = "jsonrill") -> Fragment:
    """Read the full wire form; FragmentError for anything that is not one."""
    if not isinstance(wire, Mapping):
        raise FragmentError(f"a fragment is a JSON object, not {type(wire).__name__}")
    kind, text, value = read_kind(wire.get("kind")), wire.get("textValue"), wire.get("value")
    check_dialect(dialect)
    if dialect == "juf":
        # Its paths are wrong below nested containers; the order of the fragments is right.
        return from_juf(kind, text if text is not None else value)
    return checked(kind, read_path(wire.get("path")), text, value)


def read_path(text: Any) -> Path:
    if not isinstance(text, str):
        raise FragmentError(f"the path of a fragment is a text like 'root.a[0]', not {text!r}")
    try:
        return parse_path(text)
    except ValueError as error:
        raise FragmentError(str(error)) from error


def read_kind(name: Any) -> Kind:
    if isinstance(name, str):
        kind = name[:1].upper() + name[1:]
        if kind in CODES:
            return kind
    raise FragmentError(f"not a kind of fragment: {name!r}")
