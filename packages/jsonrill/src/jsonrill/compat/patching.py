"""`install`: packages that use an original use the drop-in instead, until `uninstall`.

An explicit patch of what is installed, in the manner of uvloop. Modules that have imported the
function by its name (`from jiter import from_json`) keep it under that name: all loaded modules are
searched for it. Those that are imported later get the drop-in from the package itself.
"""

from __future__ import annotations

import re
import sys
from functools import update_wrapper
from importlib import import_module
from importlib.metadata import version
from types import FunctionType
from typing import Any, Final, NamedTuple

from .. import __version__


class Original(NamedTuple):
    """What `install` replaces of a package, and the versions that are known."""

    distribution: str
    # The module of the package that has the functions, and the drop-in that stands for it.
    module: str
    drop_in: str
    functions: tuple[str, ...]
    # From the first up to, and without, the second.
    versions: tuple[tuple[int, ...], tuple[int, ...]]


KNOWN: Final = {
    "jiter": Original("jiter", "jiter", "jiter", ("from_json",), ((0, 8), (0, 20))),
    "pydantic_core": Original(
        "pydantic_core", "pydantic_core", "pydantic_core", ("from_json",), ((2, 27), (3,))
    ),
    "partial_json_parser": Original(
        "partial-json-parser",
        "partial_json_parser",
        "partial_json_parser",
        ("loads", "decode", "parse_json"),
        ((0, 2, 1, 1), (0, 3)),
    ),
    "json_repair": Original(
        "json_repair", "json_repair", "json_repair", ("loads",), ((0, 44), (1,))
    ),
    "langchain": Original(
        "langchain-core",
        "langchain_core.utils.json",
        "langchain",
        ("parse_partial_json", "parse_json_markdown"),
        ((0, 3), (2,)),
    ),
}

# Of each package: the functions that are replaced, and those in their place.
_installed: Final[dict[str, list[tuple[Any, Any]]]] = {}


def install(*names: str, share: bool = False) -> None:
    """Let these packages read growing texts with jsonrill: `install("jiter", "langchain")`.

    With `share` the values of one text have their complete parts in common, which is much faster:
    for programs that do not change them. A package that is not installed is an `ImportError`, a
    version that is not known a `RuntimeError`; then nothing is changed.
    """
    for name in names:
        _check(name)
    for name in names:
        uninstall(name)
        known = KNOWN[name]
        theirs, ours = import_module(known.module), import_module(f"{__package__}.{known.drop_in}")
        pairs = [
            (getattr(theirs, function), _twin(getattr(ours, function), share))
            for function in known.functions
        ]
        for function, replacement in pairs:
            _rebind(function, replacement)
        _installed[name] = pairs


def uninstall(*names: str) -> None:
    """Undo `install` for these packages, or for all."""
    for name in names or tuple(_installed):
        for function, replacement in _installed.pop(name, ()):
            _rebind(replacement, function)


def installed() -> tuple[str, ...]:
    """The packages for which `install` is in force."""
    return tuple(_installed)


def _check(name: str) -> None:
    known = KNOWN.get(name)
    if known is None:
        raise ValueError(f"{name!r} cannot be installed; known are {', '.join(KNOWN)}")
    import_module(known.module)
    number = version(known.distribution)
    first, after = known.versions
    if not first <= tuple(map(int, re.findall(r"\d+", number)[:4])) < after:
        least, most = (".".join(map(str, part)) for part in known.versions)
        raise RuntimeError(
            f"{known.distribution} {number} is not known to jsonrill {__version__}: "
            f"from {least} on, before {most}"
        )


def _twin(function: Any, share: bool) -> Any:
    """The same function as another object, which is told from the one that users import."""
    twin = FunctionType(function.__code__, function.__globals__, function.__name__)
    update_wrapper(twin, function)
    twin.__defaults__ = function.__defaults__
    twin.__kwdefaults__ = {**function.__kwdefaults__, "share": share}
    return twin


def _rebind(old: Any, new: Any) -> None:
    """Bind all global names of loaded modules that are bound to `old`, but not those of ours."""
    for name, module in tuple(sys.modules.items()):
        if name.split(".")[:2] != ["jsonrill", "compat"]:
            names = getattr(module, "__dict__", None)
            if type(names) is dict:
                for key in [key for key, value in tuple(names.items()) if value is old]:
                    names[key] = new
