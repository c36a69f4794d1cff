"""Writes docs/reference.md: the API from its docstrings, the command line from its `--help`.

Writes the map of the folders in docs/design.md as well, and the tables of options between
`<!-- options: STAGE -->` and `<!-- end of options -->`. `python tools/reference.py` writes,
`--check` says what is stale.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

import typer.main  # noqa: E402

import jsonrill  # noqa: E402
from jsonrill.cli.app import app  # noqa: E402
from jsonrill.options import Option, Rules, taken_by  # noqa: E402
from jsonrill.runs.options import STREAM  # noqa: E402

PAGE = ROOT / "docs" / "reference.md"
HEAD = """\
# Reference

Everything that `import jsonrill` gives, and every command. Written by `tools/reference.py` from the
docstrings and from `--help`; a test fails when it is stale.

"""


def page() -> str:
    names = [name for name in jsonrill.__all__ if name != "Path"]
    parts = [HEAD, "## Library\n"]
    parts += [entry(name) for name in [*names, "Path"]]
    parts.append("## Command line\n")
    for name in commands_of(typer.main.get_command(app)):
        parts.append(f"### jsonrill {name}\n\n```text\n{help_of(name)}\n```\n")
    return "\n".join(parts)


def entry(name: str) -> str:
    """The section of one public name: its signature, its docstring, and its members."""
    thing = getattr(jsonrill, name)
    lines = [f"### `{name}`\n"]
    if isinstance(thing, type) and issubclass(thing, Exception):
        bases = " → ".join(base.__name__ for base in thing.__mro__[1:] if base is not object)
        lines += [f"An error: {bases}\n", doc(thing)]
    elif isinstance(thing, type):
        lines += [code(f"{name}{signature(thing)}"), doc(thing), *members(thing)]
    elif callable(thing) and not typing.get_origin(thing):
        lines += [code(f"{name}{signature(thing)}"), doc(thing)]
    else:
        lines.append(f"`{told(thing)}`\n")
    return "\n".join(line for line in lines if line)


def told(thing: Any) -> str:
    """The section of a name that is neither class nor function: a type or a flag."""
    return "bool" if isinstance(thing, bool) else str(thing).replace("typing.", "")


def members(thing: type) -> list[str]:
    found = []
    for base in reversed(thing.__mro__[:-1]):
        for name, member in vars(base).items():
            if name.startswith("_") or not own(member):
                continue
            text = doc(member).strip().replace("\n", " ")
            if not inspect.isfunction(member):
                found.append(f"* `{name}`: {text}" if text else f"* `{name}`")
            else:
                shown = f"`{name}{signature(member)}`"
                found.append(f"* {shown}: {text}" if text else f"* {shown}")
    return [*dict.fromkeys(found), ""] if found else []


def own(member: Any) -> bool:
    """The lines about a method, a property, or an attribute with a docstring."""
    if inspect.ismemberdescriptor(member):
        return bool(doc(member))
    return isinstance(member, property) or inspect.isfunction(member)


def signature(thing: Any) -> str:
    try:
        text = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return "(…)"
    # Annotations are strings, so the signature shows them in quotes.
    text = re.sub(r"""(: |-> )(['"])(.*?)\2(?=[,)= ]|$)""", r"\1\3", text.replace("jsonrill.", ""))
    text = re.sub(r"\bself(, )?", "", text)
    text = re.sub(r"<class '(\w+)'>", r"\1", text)
    return re.sub(r"<object object at 0x[0-9a-f]+>", "…", text)


def doc(thing: Any) -> str:
    text = inspect.getdoc(thing) or ""
    # A class without a docstring would show that of its base.
    return text + "\n" if text and text != object.__doc__ else ""


def code(text: str) -> str:
    return f"```text\n{text}\n```\n"


def commands_of(group: object, before: str = "") -> typing.Iterator[str]:
    """The names of all commands, those of sub-commands after that of their command."""
    for name, command in getattr(group, "commands", {}).items():
        yield before + name
        yield from commands_of(command, f"{before}{name} ")


def help_of(command: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "90", "TERM": "dumb"}
    env.pop("FORCE_COLOR", None)
    done = subprocess.run(
        [sys.executable, "-m", "jsonrill", *command.split(), "--help"],
        capture_output=True,
        text=True,
        check=True,
        env=env,
    )
    return done.stdout.replace("python -m jsonrill", "jsonrill").strip()


def option_table(stage: str) -> str:
    """The table of the options of a stage; for `stream`, of a stream of the server."""
    options = STREAM.values() if stage == "stream" else taken_by(stage)
    rows = [f"| `{it.name}` | {default(it)} | {meaning(it)} |" for it in options]
    return "\n".join(["| option | default | |", "| --- | --- | --- |", *rows, ""])


def default(option: Option) -> str:
    value = option.default
    return "" if value is None else f"`{getattr(value, '__name__', None) or repr(value)}`"


def meaning(option: Option) -> str:
    if option.least is not None or (option.choices and option.type != Rules):
        return f"{option.help} {option.allowed[0].upper()}{option.allowed[1:]}."
    return option.help


def with_tables(text: str) -> str:
    """The page with its tables of options and its map of the folders up to date."""
    mark = re.compile(r"(<!-- options: (\w+) -->\n).*?(<!-- end of options -->)", re.DOTALL)
    text = mark.sub(lambda found: f"{found[1]}\n{option_table(found[2])}\n{found[3]}", text)
    tree = "\n".join(
        re.findall(r"^    ([a-z_]+(?:\.py|/) .*)$", jsonrill.__doc__ or "", re.MULTILINE)
    )
    return re.sub(r"(<!-- map -->\n```text\n).*?(```)", rf"\1{tree}\n\2", text, flags=re.DOTALL)


if __name__ == "__main__":
    pages = {file: with_tables(file.read_text("utf8")) for file in PAGE.parent.glob("*.md")}
    pages[PAGE] = page()
    stale = [file for file, text in pages.items() if file.read_text("utf8") != text]
    if "--check" in sys.argv:
        sys.exit(f"stale: {', '.join(file.name for file in stale)}" if stale else None)
    for file in stale:
        file.write_text(pages[file], "utf8")
