"""Writes the pages of docs/ that are made from the code, and the parts of other pages that are.

* docs/reference.md: what `import jsonrill` gives, from signatures and docstrings
* docs/reference-modules.md: the public names of the other modules, in the same way
* the second half of docs/commands.md: every command, from its `--help`
* docs/llms.txt: the list of all pages (tools/docs_site.py)
* the map of the folders in docs/design.md
* the tables of errors and of how functions fail, from `failures.py`
* the tables of options between `<!-- options: STAGE -->` and `<!-- end of options -->`

`python tools/reference.py` writes them, `--check` says what is stale.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import sys
import typing
from collections.abc import AsyncIterator, Callable, Iterator
from enum import Enum
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Any, Final

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
sys.path[:0] = [str(folder) for folder in ROOT.glob("packages/*/src")]

import docs_site  # noqa: E402
import failures  # noqa: E402
import typer.main  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

import jsonrill  # noqa: E402
from jsonrill.cli.app import app  # noqa: E402
from jsonrill.options import TABLE, Option, Rules, taken_by  # noqa: E402
from jsonrill_server.config import SETTINGS, Config  # noqa: E402
from jsonrill_server.runs.options import STREAM, VIEW  # noqa: E402

LIBRARY: Final = """\
# Reference

Everything that `import jsonrill` gives, from the signatures and docstrings of the code. `Source`
stands for all that is [a source](values.md#sources) and is not async; with an async source the
result is an async iterator. [Other modules](reference-modules.md) and [commands](commands.md) have
pages of their own.
"""
MODULES: Final = """\
# Reference: other modules

What the modules beside `jsonrill` itself offer. Names that are not here may change at any time: see
[stability](promises.md#stability).
"""
# Below this line of docs/commands.md is what the commands say of themselves.
COMMANDS: Final = "<!-- commands -->"
# Modules with public names, and the extra that each needs.
PUBLIC: Final = {
    "jsonrill.wire": "",
    "jsonrill.paths": "",
    "jsonrill.eventstream": "",
    "jsonrill.agents": "",
    "jsonrill.dialects": "",
    "jsonrill.schema": "",
    "jsonrill_server": "server",
    "jsonrill_server.client": "server",
    "jsonrill_batch": "batch",
    "jsonrill.testing": "",
    "jsonrill.ext.starlette": "",
    "jsonrill.ext.langchain": "",
    "jsonrill.ext.opentelemetry": "opentelemetry",
    "jsonrill_server.store": "server",
}
# A module without `__all__` has these public names.
NAMES: Final = {
    "jsonrill.paths": ["format_path", "from_pointer", "parse_path", "to_pointer"],
    "jsonrill.eventstream": ["SSEDecoder", "SSEEncoder", "SSEEvent", "encode_event"],
    "jsonrill.dialects": [
        "to_openai",
        "to_ai_sdk",
        "to_ag_ui",
        "to_mcp_app",
        "ai_sdk_message",
        "from_ai_sdk",
    ],
    "jsonrill.ext.starlette": ["EventStreamResponse"],
}
NEEDS: Final = {
    "jsonrill.schema": "the extra `pydantic` or `jsonschema`",
    "jsonrill.ext.starlette": "Starlette",
    "jsonrill.ext.langchain": "langchain-core",
}
WIDTH: Final = 88
FUNCTIONS: Final = "Functions"
YIELDED: Final = "What they take and yield"
BY_HAND: Final = "By hand, without a loop"
ERRORS: Final = "Errors"
TIERS: Final = (FUNCTIONS, YIELDED, BY_HAND, ERRORS)


# ---- the pages ----


def library() -> str:
    parts = [LIBRARY]
    for title, things in tiers().items():
        parts += [f"## {title}\n", *(entry(name, thing) for name, thing in things.items())]
    return "\n".join(parts)


def tiers() -> dict[str, dict[str, Any]]:
    """The public names, those of every day first; in a tier in the order of the docstring."""
    every = {name: getattr(jsonrill, name) for _, names in groups() for name in names}
    by_tier: dict[str, dict[str, Any]] = {title: {} for title in TIERS}
    for name, thing in every.items():
        by_tier[tier(thing)][name] = thing
        by_tier[YIELDED] |= returned(thing) if tier(thing) == FUNCTIONS else {}
    return by_tier


def tier(thing: Any) -> str:
    if is_error(thing):
        return ERRORS
    if callable(thing) and not isinstance(thing, type) and not typing.get_origin(thing):
        return FUNCTIONS
    return BY_HAND if hasattr(thing, "feed") else YIELDED


def returned(function: Any) -> dict[str, type]:
    """The classes that a function returns and that have no place at the top."""
    scope = vars(sys.modules[function.__module__])
    forms = typing.get_overloads(function) or [function]
    told = " ".join(annotation(inspect.signature(it).return_annotation) for it in forms)
    things = {name: scope.get(name) for name in re.findall(r"\w+", told)}
    return {
        name: thing
        for name, thing in things.items()
        if isinstance(thing, type) and thing.__module__.startswith("jsonrill.")
        if name not in jsonrill.__all__
    }


def groups() -> list[tuple[str, list[str]]]:
    """The public names by the lines of the package's docstring, errors last."""
    left = list(jsonrill.__all__)
    titled: list[tuple[str, list[str]]] = []
    for line in (jsonrill.__doc__ or "").split("\n\n")[1].splitlines():
        title, names = line[:19].strip(), re.findall(r"`(\w+)`", line[19:])
        mine = [name for name in names if name in left]
        left = [name for name in left if name not in mine]
        if title:
            titled.append((title[0].upper() + title[1:], mine))
        else:
            titled[-1][1].extend(mine)
    beside = {"is_partial": "values", "texts": "text"}
    for name in list(left):
        if not is_error(getattr(jsonrill, name)):
            group = next((it for _, it in titled if beside.get(name) in it), titled[-1][1])
            group.append(name)
            left.remove(name)
    titled[-1][1].extend(left)
    return [(title, names) for title, names in titled if names]


def modules() -> str:
    parts = [MODULES]
    for name, extra in PUBLIC.items():
        module = import_module(name)
        names = NAMES.get(name) or [it for it in module.__all__ if it not in jsonrill.__all__]
        parts += [f"## {name}\n", introduction(module)]
        needed = f"the extra `{extra}`" if extra else NEEDS.get(name)
        if needed and needed not in parts[-1]:
            parts.append(f"Needs {needed}.\n")
        parts += [entry(it, getattr(module, it)) for it in sorted(names, key=kind_order(module))]
    return "\n".join(parts)


def kind_order(module: Any) -> Callable[[str], tuple[int, str]]:
    """Functions and classes first, then errors."""
    return lambda name: (is_error(getattr(module, name)), name.lower())


def introduction(module: Any) -> str:
    """Of the docstring of a module the first paragraph, and those that are about public names."""
    first, *more = (inspect.getdoc(module) or "").split("\n\n")
    public = set(NAMES.get(module.__name__) or module.__all__)
    kept = [first]
    for text in more:
        named = re.findall(r"`(\w+)", text)
        if public.intersection(named) and not any(it.startswith("_") for it in named):
            kept.append(text)
    return "\n\n".join(kept) + "\n"


def commands(page: str) -> str:
    """The page with what the commands say of themselves up to date."""
    root = typer.main.get_command(app)
    guide = page[: page.index(COMMANDS)]
    parts = [f"{guide}{COMMANDS}", "## Every option", f"```text\n{help_of()}\n```\n"]
    for names in leaves(root):
        parts.append(f"### jsonrill {' '.join(names)}\n\n```text\n{help_of(*names)}\n```\n")
    return "\n\n".join(parts[:3]) + "\n" + "\n".join(parts[3:])


def leaves(command: Any, *names: str) -> Iterator[tuple[str, ...]]:
    """The names of each command, those of groups before those in them."""
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield (*names, name)
            yield from leaves(inner, *names, name)


def help_of(*names: str) -> str:
    env = {"COLUMNS": "90", "TERM": "dumb", "FORCE_COLOR": None, "NO_COLOR": "1"}
    done = CliRunner().invoke(app, [*names, "--help"], prog_name="jsonrill", env=env)
    if done.exit_code:
        raise RuntimeError(f"{names}: {done.output}")
    return done.stdout.strip()


# ---- an entry ----


def is_error(thing: Any) -> bool:
    return isinstance(thing, type) and issubclass(thing, Exception)


def entry(name: str, thing: Any) -> str:
    """The section of one public name: its signature, its docstring, options and members."""
    lines = [f"### `{name}`\n"]
    if is_error(thing):
        bases = [it.__name__ for it in thing.__mro__[1:] if it.__name__[0] != "_"]
        shown = " → ".join(f"`{it}`" for it in bases[: bases.index("Exception") + 1])
        lines += [f"An error: {shown}\n", doc(thing)]
    elif isinstance(thing, type):
        lines += [code([f"class {name}{head(thing)}"]), doc(thing), *options_of(thing)]
        lines += [settings()] if thing is Config else members(thing)
        if issubclass(thing, Enum):
            lines.append(", ".join(f"`{name}.{it.name}`" for it in thing) + "\n")
    elif callable(thing) and not typing.get_origin(thing):
        forms = typing.get_overloads(thing) or [thing]
        lines += [code([form(name, it) for it in forms]), doc(thing), *options_of(thing)]
    else:
        lines.append(f"`{told(thing)}`\n")
        if isinstance(thing, UnionType) and (base := thing.__args__[0].__base__) is not object:
            # Classes that differ in their types: what they have in common is said of the base.
            lines += [code([f"class {name}{head(base)}"]), doc(base), *members(base)]
    return "\n".join(line for line in lines if line)


def head(thing: type) -> str:
    """The parameters of a class; none of one that only a function makes."""
    if issubclass(thing, Iterator | AsyncIterator):
        return ""
    if issubclass(thing, str | bytes | int | Enum) or getattr(thing, "_is_protocol", False):
        return ""
    return arguments(thing).removesuffix(" -> None") if thing is not Config else "(…)"


def form(name: str, function: Any) -> str:
    prefix = "async def" if inspect.iscoroutinefunction(function) else "def"
    return arguments(function, f"{prefix} {name}")


def arguments(thing: Any, before: str = "") -> str:
    """The parameters and the result, on several lines where one is too long."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return f"{before}(…)"
    parameters = [it for it in signature.parameters.values() if it.name not in ("self", "cls")]
    parameters = [it for it in parameters if not it.name.startswith("_")]
    shown: list[str] = []
    for at, parameter in enumerate(parameters):
        former = parameters[at - 1].kind if at else parameter.POSITIONAL_OR_KEYWORD
        if parameter.kind != parameter.POSITIONAL_ONLY and former == parameter.POSITIONAL_ONLY:
            shown.append("/")
        if parameter.kind == parameter.KEYWORD_ONLY and former not in (
            parameter.KEYWORD_ONLY,
            parameter.VAR_POSITIONAL,
        ):
            shown.append("*")
        shown.append(one(parameter))
    result = annotation(signature.return_annotation)
    after = f" -> {result}" if result else ""
    line = f"{before}({', '.join(shown)}){after}"
    if len(line) <= WIDTH:
        return line
    return "".join([f"{before}(\n", *(f"    {it},\n" for it in shown), f"){after}"])


def one(parameter: inspect.Parameter) -> str:
    many: dict[Any, str] = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
    stars = many.get(parameter.kind, "")
    kind = annotation(parameter.annotation)
    text = f"{stars}{parameter.name}{f': {kind}' if kind else ''}"
    if parameter.default is parameter.empty:
        return text
    value = parameter.default
    shown = getattr(value, "__name__", None) or repr(value)
    if shown.startswith("<"):
        shown = "…"
    if len(shown) > 40:
        shown = f"{type(value).__name__}()"
    return f"{text} = {shown}" if kind else f"{text}={shown}"


def annotation(hint: Any) -> str:
    if hint is inspect.Parameter.empty:
        return ""
    text = hint if isinstance(hint, str) else inspect.formatannotation(hint)
    text = re.sub(r"ForwardRef\('([^']*)'.*?\)", r"\1", text)
    return re.sub(r"\b(jsonrill(\.\w+)*|typing|collections\.abc)\.(?=[A-Z])", "", text)


def told(thing: Any) -> str:
    """The section of a name that is neither class nor function: a type or a flag."""
    return "bool" if isinstance(thing, bool) else annotation(str(thing))


def members(thing: type) -> list[str]:
    """The list of the documented methods, properties and attributes."""
    lines: dict[str, str] = {}
    for base in reversed(thing.__mro__[:-1]):
        for name, member in vars(base).items():
            member = getattr(member, "__func__", member)
            text = doc(member).strip().replace("\n\n", "\n").replace("\n", " ")
            if name.startswith("_") or not text or not own(base, member):
                continue
            shown = name
            if inspect.isfunction(member):
                prefix = "await " if inspect.iscoroutinefunction(member) else ""
                shown = f"{prefix}{' '.join(arguments(member, name).split())}"
                shown = shown.replace("( ", "(").replace(", )", ")")
            lines[name] = f"* `{shown}`: {text}"
    return ["\n".join([*lines.values(), ""])] if lines else []


def own(base: type, member: Any) -> bool:
    """Whether a member is a method, a property or an attribute, and of jsonrill."""
    if not base.__module__.startswith("jsonrill"):
        return False
    kinds = property | cached_property
    return (
        isinstance(member, kinds)
        or inspect.isfunction(member)
        or inspect.ismemberdescriptor(member)
    )


def doc(thing: Any) -> str:
    """The docstring; aligned lines in it (`name  what it is`) as a list."""
    # Not that of a base: it may be another project's.
    text = inspect.cleandoc(getattr(thing, "__doc__", None) or "")
    # A dataclass without a docstring has its signature as one.
    if dataclasses.is_dataclass(thing) and text.startswith(f"{getattr(thing, '__name__', '')}("):
        return ""
    aligned = re.compile(r"(?m)(?:^\w+(?:, \w+)*  +\S.*(?:\n +\S.*)*\n?){2,}")
    return aligned.sub(lambda match: listed(match[0]), text) + "\n"


def listed(text: str) -> str:
    joined = re.sub(r"\n +", " ", text)
    return re.sub(r"(?m)^(\w+(?:, \w+)*)  +", r"* `\1`: ", joined)


def code(forms: list[str]) -> str:
    between = "\n\n" if any("\n" in it for it in forms) else "\n"
    return f"```pyi\n{between.join(forms)}\n```\n"


# ---- options ----


def options_of(thing: Any) -> list[str]:
    """The table of the options that a function takes as `**options`, if it does."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return []
    scope = vars(sys.modules[thing.__module__])
    for parameter in parameters:
        if unpacked := re.fullmatch(r"Unpack\[(\w+)\]", annotation(parameter.annotation)):
            names = typing.get_type_hints(scope[unpacked[1]]).keys()
            rows = [row for name in names if (row := option_row(name, unpacked[1]))]
            return ["\n".join(["| option | default | |", "| --- | --- | --- |", *rows, ""])]
    return []


def option_row(name: str, kind: str) -> str:
    if kind == "RunSettings":
        return setting_row(SETTINGS[name])
    table = {"RunOptions": STREAM, "NewStream": STREAM, "EventOptions": VIEW}.get(kind, TABLE)
    return row(table[name]) if name in table else ""


def row(option: Option) -> str:
    return f"| `{option.name}` | {default(option.default)} | {meaning(option)} |"


def default(value: Any) -> str:
    return "" if value is None else f"`{getattr(value, '__name__', None) or repr(value)}`"


def meaning(option: Option) -> str:
    if option.least is not None or (option.choices and option.type != Rules):
        return f"{option.help} {option.allowed[0].upper()}{option.allowed[1:]}."
    return f"{option.help} For {option.used_in}." if option.modes else option.help


def settings() -> str:
    rows = [setting_row(it) for it in SETTINGS.values()]
    return "\n".join(["| setting | default | |", "| --- | --- | --- |", *rows, ""])


def setting_row(it: Any) -> str:
    shown = ", ".join(it.default) if isinstance(it.default, tuple) else f"{it.default}"
    return f"| `{it.name}` | {f'`{shown}`' if shown else ''} | {it.metadata['help']} |"


def option_table(stage: str) -> str:
    """The table of the options of a stage; for `stream`, of a stream of the server."""
    options = STREAM.values() if stage == "stream" else taken_by(stage)
    return "\n".join(["| option | default | |", "| --- | --- | --- |", *map(row, options), ""])


def with_tables(text: str) -> str:
    """The page with its tables of options and its map of the folders up to date."""
    mark = re.compile(r"(<!-- options: (\w+) -->\n).*?(<!-- end of options -->)", re.DOTALL)
    text = mark.sub(lambda match: f"{match[1]}\n{option_table(match[2])}\n{match[3]}", text)
    mark = re.compile(r"(<!-- fails: (.+?) -->\n).*?(<!-- end of fails -->)", re.DOTALL)
    text = mark.sub(
        lambda match: f"{match[1]}\n{failures.fails(match[2].split(', '))}\n{match[3]}", text
    )
    mark = re.compile(r"(<!-- errors -->\n).*?(<!-- end of errors -->)", re.DOTALL)
    text = mark.sub(lambda match: f"{match[1]}\n{failures.errors()}\n{match[2]}", text)
    tree = "\n".join(
        re.findall(r"^    ([a-z_]+(?:\.py|/) .*)$", jsonrill.__doc__ or "", re.MULTILINE)
    )
    return re.sub(r"(<!-- map -->\n```text\n).*?(```)", rf"\1{tree}\n\2", text, flags=re.DOTALL)


def stale() -> dict[Path, str]:
    """The pages that are not as they should be, and what they should be."""
    pages = {file: with_tables(file.read_text("utf8")) for file in DOCS.rglob("*.md")}
    pages[DOCS / "reference.md"] = library()
    pages[DOCS / "reference-modules.md"] = modules()
    pages[DOCS / "commands.md"] = commands(pages[DOCS / "commands.md"])
    changed = {it: text for it, text in pages.items() if docs_site.text_of(it) != text}
    if "--check" not in sys.argv:
        # The list of pages quotes them, so they are written first.
        for file, text in changed.items():
            file.write_text(text, "utf8")
    fresh = docs_site.llms()
    if docs_site.text_of(docs_site.LIST) != fresh:
        changed[docs_site.LIST] = fresh
        if "--check" not in sys.argv:
            docs_site.LIST.write_text(fresh, "utf8")
    return changed


if __name__ == "__main__":
    os.environ["COLUMNS"] = "90"
    pages = stale()
    if "--check" in sys.argv and pages:
        names = ", ".join(file.relative_to(DOCS).as_posix() for file in pages)
        sys.exit(f"stale: {names}")
