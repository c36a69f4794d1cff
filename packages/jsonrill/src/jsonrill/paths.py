"""Paths: the place of a value as a tuple of keys (`str`) and indices (`int`); the root is `()`.

Three spellings: text (`root.users[1]["a.b"]`, one-to-one with the tuple), JSON Pointer
(RFC 6901, read against a value), and patterns with `[*]` and `.*`.
"""

from __future__ import annotations

import re
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in typeshed
from typing import Any, Final

from .jsontext import quoted

Path = tuple[str | int, ...]


# Marks that there is no value, where None could be one.
class _Absent:
    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"

    def __reduce__(self) -> str:
        return "ABSENT"  # there is one, also in copies


ABSENT: Final[Any] = _Absent()

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# One step of a path or pattern: a name, an index, a quoted key, or a wildcard.
_STEP: Final = re.compile(
    r"\.(?P<name>[A-Za-z_][A-Za-z0-9_]*)|\[(?P<index>0|[1-9][0-9]*)\]"
    r"|\[(?P<quote>\")|(?P<key>\.\*)|(?P<item>\[\*\])"
)
INDEX: Final = re.compile(r"0|[1-9][0-9]{0,15}")
# Text before the first slash, or an escape other than `~0` and `~1`.
BAD_POINTER: Final = re.compile(r"[^/]|.*~(?![01])", re.DOTALL)
# The characters that separate steps: `entity=` takes text without them as a key.
SYNTAX: Final = frozenset('.[]*"')
# The elements of a list as ijson writes them: `items.item.id`. A key may be called item, too.
_IJSON: Final = re.compile(r"([A-Za-z_]\w*s)\.item(?=\.|$)")
# How many steps at either end of a long path a message shows.
_MAX_STEPS: Final = 6


class Wildcard:
    """A step of a pattern that fits any key (`.*`) or any index (`[*]`)."""

    __slots__ = ("kind",)

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def __repr__(self) -> str:
        return "[*]" if self.kind is int else ".*"


ANY_KEY: Final = Wildcard(str)
ANY_INDEX: Final = Wildcard(int)

Pattern = tuple[str | int | Wildcard, ...]


def format_path(path: Path) -> str:
    """Return `("users", 1, "a.b")` as `root.users[1]["a.b"]`."""
    parts = ["root"]
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _NAME.fullmatch(step):
            parts.append("." + step)
        else:
            parts.append(f"[{quoted(step)}]")
    return "".join(parts)


def short_path(path: Path) -> str:
    """Return the text of a path for a message: the first and last steps of a long one."""
    if len(path) <= 2 * _MAX_STEPS:
        return format_path(path)
    last = format_path(path[-_MAX_STEPS:]).removeprefix("root")
    return f"{format_path(path[:_MAX_STEPS])}…{last}"


def parse_path(text: str) -> Path:
    """Read a path as `format_path` writes it; `root.` may be left out."""
    path = parse_pattern(text)
    if any(isinstance(step, Wildcard) for step in path):
        raise ValueError(f"expected a path without wildcards, not {text!r}")
    return path  # type: ignore[return-value]  # no Wildcard is left in it


def parse_pattern(text: str) -> Pattern:
    """Read `days[*].title` as `("days", ANY_INDEX, "title")`; `root.` may be left out."""
    if text == "root":
        return ()
    is_whole = text.startswith(("root.", "root["))
    if not is_whole and (item := _IJSON.search(text)):
        items, rest = text[: item.end(1)], text[item.end() :]
        remedy = f'for any element write `{items}[*]{rest}`, for a key `item` `{items}["item"]`'
        raise ValueError(f"not a path: {text!r}; {remedy}")
    rest = text[4:] if is_whole else text if text.startswith("[") else "." + text
    steps: list[str | int | Wildcard] = []
    at = 0
    while at < len(rest):
        step = _STEP.match(rest, at)
        if step is None:
            start = max(0, at + len(text) - len(rest))
            raise ValueError(f"not a path: {text!r}{_remedy(text, start)}")
        at = step.end()
        match step.lastgroup:
            case "name":
                steps.append(step["name"])
            case "index":
                steps.append(int(step["index"]))
            case "quote":
                key, at = _unquoted(rest, at)
                steps.append(key)
            case "key":
                steps.append(ANY_KEY)
            case _:
                steps.append(ANY_INDEX)
    return tuple(steps)


def _remedy(text: str, start: int) -> str:
    """Return what to write instead of a text that is not a path from `start` on."""
    if text.startswith("$"):
        return f"; leave out `{text[:2]}`"
    if text.startswith("[]", start):
        return "; for any element write `[*]`"
    if text.startswith(".*"):
        return "; for any key write `*`"
    if text.startswith(".") and len(text) > 1 and "[]" in text:
        return f"; write `{text[1:].replace('[]', '[*]')}`"
    if re.match(r"\.[0-9]", text[start:]):
        return "; for an element write `[0]`"
    if text.startswith(("/", ".")):
        return "; write it like `days[0].title`"
    return f", from {text[start:]!r} on"


def matches(pattern: Pattern, path: Path) -> bool:
    """Return whether each step of `path` fits its step of `pattern`."""
    return len(pattern) == len(path) and all(map(fits, pattern, path))


def fits(want: str | int | Wildcard, step: str | int | Wildcard) -> bool:
    """Return whether a step fits the step of a pattern; it may be a wildcard, too."""
    if isinstance(want, Wildcard):
        return (step.kind if isinstance(step, Wildcard) else type(step)) is want.kind
    return type(want) is type(step) and want == step


def to_pointer(path: Path) -> str:
    """Return `("a/b", 0)` as the JSON Pointer `/a~1b/0`."""
    pointer = ""
    for step in path:
        name = step if type(step) is str else str(step)
        if "~" in name or "/" in name:
            name = name.replace("~", "~0").replace("/", "~1")
        pointer += "/" + name
    return pointer


def from_pointer(pointer: str, value: Any) -> Path:
    """Return the path of a JSON Pointer in `value`: a digit token is an index only in an array.

    The last token may name a member or element that is not there yet; `-` is the element after
    the last one. Any other pointer that leads nowhere is a `ValueError`.
    """
    if BAD_POINTER.match(pointer):
        raise ValueError(f"not a JSON Pointer: {pointer!r}")
    path: list[str | int] = []
    for token in pointer.split("/")[1:]:
        key: str | int = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and (token == "-" or INDEX.fullmatch(token)):
            key = len(value) if token == "-" else int(token)
        elif not isinstance(value, dict):
            raise ValueError(f"{pointer!r} leads nowhere: there is no {token!r}")
        path.append(key)
        value = lookup(value, (key,))[1]
    return tuple(path)


def is_complete(value: Any, path: Path | str, growing: Path | None) -> bool:
    """Return whether `value` has a complete value at `path`.

    `growing` is the path of the open value, None if there is none.
    """
    path = parse_path(path) if isinstance(path, str) else tuple(path)
    if growing is not None and growing[: len(path)] == path:
        return False
    return lookup(value, path)[0]


def complete_paths(value: Any) -> list[Path]:
    """Return the paths of all values in a complete one, each after the paths inside it."""
    paths: list[Path] = []
    todo: list[tuple[Path, Any]] = [((), value)]
    while todo:
        path, value = todo.pop()
        paths.append(path)
        if type(value) in (dict, list):
            items = value.items() if type(value) is dict else enumerate(value)
            todo += [((*path, step), item) for step, item in items]
    return paths[::-1]


def lookup(value: Any, path: Path) -> tuple[bool, Any]:
    """Return whether `value` has a value at `path`, and that value."""
    for step in path:
        if isinstance(value, dict):
            if not isinstance(step, str) or step not in value:
                return False, None
        elif not isinstance(value, list) or type(step) is not int or not 0 <= step < len(value):
            return False, None
        value = value[step]
    return True, value


def _unquoted(text: str, at: int) -> tuple[str, int]:
    try:
        key, end = scanstring(text, at, True)
    except ValueError as error:
        raise ValueError(f"not a path: the quoted key in {text!r} is not a JSON string") from error
    if text[end : end + 1] != "]":
        raise ValueError(f"not a path: ']' is missing in {text!r}")
    return key, end + 1
