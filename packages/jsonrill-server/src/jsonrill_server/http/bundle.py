"""The page in few files: its modules bundled, its style sheets joined, under a name that is a hash.

The page is written as many small modules. Asked for one by one they are a hundred requests and
twice the bytes, so each entry (the page's script, and every module that another one loads with
`import()`) becomes one file. In it each module is a function that is called once, in the order of
imports:

    m["page/dom.js"] ??= (() => { …; return { make, button }; })();

The files keep the names of the entries, below `web/HASH/`: what is there never changes. Comments
that have lines of their own are left out. Only the forms of import and export that our modules use
are understood; any other is a ValueError, and a test bundles everything.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Mapping
from typing import Final

ENTRY: Final = "page/page.js"
INDEX: Final = "page/index.html"
_COMMENT: Final = re.compile(
    r"^[ \t]*(?://[^\n]*|/\*(?:(?!\*/).)*\*/[ \t]*)\n|/\*\* @type (?:(?!\*/).)*\*/ ?",
    re.MULTILINE | re.DOTALL,
)
_IMPORT: Final = re.compile(r'^import (?:([^;"]+?) from )?"(\.[^"]+)";$', re.MULTILINE)
_REEXPORT: Final = re.compile(r'^export \{([^}]*)\} from "(\.[^"]+)";$', re.MULTILINE)
_EXPORT: Final = re.compile(
    r"^export (?=(?:(?:async )?function\*?|class|const) ([\w$]+))", re.MULTILINE
)
_LAZY: Final = re.compile(r'\bimport\("(\.[^"]+)"\)')
_NEEDS: Final = re.compile(r'^(?:import|export) (?:[^;"]+ from )?"(\.[^"]+)";$', re.MULTILINE)
_ALIAS: Final = re.compile(r"([\w$]+) as ([\w$]+)")
_STYLE: Final = re.compile(r'^ *<link rel="stylesheet" href="web/([^"]+)" />\n', re.MULTILINE)


def without_comments(text: str) -> str:
    """A script or a style sheet without the comments that have lines of their own."""
    return _COMMENT.sub("", text)


def page_files(texts: Mapping[str, str]) -> dict[str, str]:
    """The files of the page as they are delivered, by name; `texts` are those of the package.

    `index.html` keeps its name. All others are below a folder that is named after their contents.
    """
    html = texts[INDEX]
    styles = _STYLE.findall(html)
    made = {
        **bundles(texts, ENTRY),
        styles[0]: "".join(without_comments(texts[name]) for name in styles),
    }
    for name in re.findall(r'"web/([^"]+)"', html):
        if name not in styles:
            made.setdefault(name, texts[name])
    digest = hashlib.sha256()
    for name, text in sorted(made.items()):
        digest.update(f"{name}\0{text}\0".encode())
    folder = digest.hexdigest()[:16]
    # The first link stands for all style sheets.
    for name in styles[1:]:
        html = html.replace(f'    <link rel="stylesheet" href="web/{name}" />\n', "")
    html = html.replace('"web/', f'"web/{folder}/')
    return {INDEX: html, **{f"{folder}/{name}": text for name, text in made.items()}}


def bundles(texts: Mapping[str, str], entry: str) -> dict[str, str]:
    """The bundle of an entry, and one for each module that is loaded later, by the entry's name."""
    first = _order(texts, entry)
    made = {entry: "export const m = {};\n"}
    waiting = {entry: first}
    while waiting:
        name, modules = waiting.popitem()
        if name != entry:
            back = _relative(entry, name)
            made[name] = f'import {{ m }} from "{back}";\n'
        for module in modules:
            made[name] += _wrapped(texts, module, name, first)
            for lazy in _lazy(texts, module):
                if lazy not in made and lazy not in first:
                    waiting[lazy] = [one for one in _order(texts, lazy) if one not in first]
    return made


def _order(texts: Mapping[str, str], entry: str) -> list[str]:
    """A module and all that it imports, each after those that it imports itself."""
    order: list[str] = []
    path: list[str] = []

    def visit(name: str) -> None:
        if name in order:
            return
        if name in path:
            raise ValueError(f"modules import each other: {' → '.join([*path, name])}")
        path.append(name)
        for found in _NEEDS.findall(texts[name]):
            visit(_resolved(found, name))
        order.append(path.pop())

    visit(entry)
    return order


def _lazy(texts: Mapping[str, str], name: str) -> list[str]:
    return [_resolved(path, name) for path in _LAZY.findall(without_comments(texts[name]))]


def _resolved(path: str, importer: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(importer), path))


def _relative(name: str, importer: str) -> str:
    path = posixpath.relpath(name, posixpath.dirname(importer))
    return path if path.startswith(".") else f"./{path}"


def _wrapped(texts: Mapping[str, str], name: str, entry: str, first: list[str]) -> str:
    """A module as a function that returns what the module exports."""
    exports: list[str] = []

    def imported(found: re.Match[str]) -> str:
        what, module = found[1], f'm["{_resolved(found[2], name)}"]'
        if what is None:
            return ""
        what = what.removeprefix("* as ") if what.startswith("*") else _ALIAS.sub(r"\1: \2", what)
        return f"const {what} = {module};"

    def passed_on(found: re.Match[str]) -> str:
        module = f'm["{_resolved(found[2], name)}"]'
        for item in filter(None, map(str.strip, found[1].split(","))):
            inside, _, outside = item.partition(" as ")
            exports.append(f"{outside or inside}: {module}.{inside}")
        return ""

    def exported(found: re.Match[str]) -> str:
        exports.append(found[1])
        return ""

    def later(found: re.Match[str]) -> str:
        module = _resolved(found[1], name)
        if module in first:
            return f'Promise.resolve(m["{module}"])'
        return f'import("{_relative(module, entry)}").then(() => m["{module}"])'

    code = _IMPORT.sub(imported, without_comments(texts[name]))
    code = _LAZY.sub(later, _EXPORT.sub(exported, _REEXPORT.sub(passed_on, code)))
    wrong = re.search(r"^(?:import|export)\b.*", code, re.MULTILINE)
    if wrong is not None:
        raise ValueError(f"{name}: {wrong[0]} cannot be bundled")
    return f'm["{name}"] ??= (() => {{\n{code}return {{ {", ".join(exports)} }};\n}})();\n'
