"""`make vendor`: the strict parser as one file, dist/jsonrill_partial.py, to copy into a project.

The file is assembled from the library's modules, not written again. Three steps:

    fold    what a strict parser in Python never does is decided: `self._leniency` is 0, so
            `a if self._leniency else b` is `b`, and the `if` of a compiled module is gone
    shake   a function, method, field or constant that nothing is left to use goes with its comment
    join    what is left is put one under the other, with the imports that it needs

Texts are edited in place, so comments and docstrings stay as they were written. If the library
changes such that a decision below fits nothing any more, the tool says which one.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from page_bundle import TOOLS, install

ROOT: Final = Path(__file__).resolve().parent.parent
LIBRARY: Final = ROOT / "packages" / "jsonrill" / "src" / "jsonrill"
TARGET: Final = ROOT / "dist" / "jsonrill_partial.py"

# The modules, in the order of the file.
PARTS: Final = (
    *("jsontext", "paths", "errors", "options", "parse/states", "parse/grammar", "parse/sink"),
    *("parse/position", "parse/nesting", "parse/c_scanner", "parse/characters", "parse/machine"),
    *("build/builder", "build/document", "partial"),
)
# What the file is for; all else is there because these use it.
PUBLIC: Final = (
    *("Document", "partial", "Limits", "JsonrillError", "InvalidJSON", "Truncated"),
    *("LimitExceeded", "StreamClosed"),
)
# Members that users read, and Python.
MEMBERS: Final = {
    *("feed", "flush", "started", "complete", "value", "live", "open_path"),
    *("changed", "pending", "code", "offset", "line", "column", "path", "message", "expected"),
    *("limit", "reason", "to_dict", "depth", "text", "string", "number", "keys"),
}
# Of these only some definitions: of the module that has the function `partial` nothing else.
ONLY: Final = {"partial": {"partial"}, "options": {"Duplicates", "ParseFloat"}}

# ---- what is decided: expressions of the library, and what they are here ----

FALSE: Final = {
    "_COMPILED",
    "COMPILED",
    "self._leniency",
    "self._many",
    "many",
    "machine._many",
    "entry",
    "many is not False",
    "builder.finished",
    "type(seen) is list",
    "self._ends_number(text, pos)",
    "self._line_starts is not None",
    "self._passed is not None",
    "TYPE_CHECKING",
    "cut is not None",
    "self._cut",
    "self._offset + end < self._bound",
    # What is there for speed and memory alone, and is longer than it is worth here.
    "(piece := data)",
    "self._steps",
    "self._names is _NO_NAMES",
    "len(text) - pos >= WORTH_A_RUN",
    "_is_dense(text, start, end)",
    "len(text) <= SHORT",
}
TRUE: Final = {
    *("state == DIGITS", "self._state != SKIPPED", "end == pos", "cut is None"),
    "stop == NOWHERE",
}
# Parameters and arguments that are not here.
GONE: Final = {"repair", "many", "on_repair", "prefix", "schema", "cut", "missing"}
# Statements and lines that are not here, and texts that are others here.
WITHOUT: Final = (
    "self._leave_ended()",
    "self._unread()",
    "self._passed: str | None = None",
    "self._passed_line = 0",
    "end = pos",
    "stop = NOWHERE",
    "builder.finished = None",
    'self.many = options.get("many", False)',
    "self._many = many",
    "self._last = False",
    "self._careful_at = self._string_at = self._closed_at = NOWHERE",
    "fragments: list[Fragment]",
    "text: str | None = None",
    "value: object = None",
    "repairs: int = 100000",
)
INSTEAD: Final = (
    (r"\bentry <= WATCHED\b", "entry == PLAIN"),
    (r'self\._give_up\((.+), (?:text|""), \w[^\n]*\)$', r"raise \1"),
    (r"self\.feed\(str\.__str__", "self.read(str.__str__"),
    (r" *SKIPPED: \"a newline\",\n", ""),
    (r' *"many": "True if one document may follow another.",\n', ""),
    (r"\*\*options: Unpack\[ParseOptions\]", "**options: Any"),
    (r"= create_machine\(self\._builder, options\)", "= Machine(self._builder, **options)"),
    (r" +(?:_known|refuse_other)\(\"values\", options, \"schema\", \"missing\"\)\n", ""),
    (r"\btext: Text,", "text: str | bytes,"),
    (r"_document\(schema, options if schema is None [^\n]*, missing\)", "Document(**options)"),
    (r"raise _explained\(error, text, options\) from error\.__cause__", "raise error"),
    (r"\(_ParseError", "(JsonrillError"),
    (r"_run_documents", "_run_unheld"),
    (r"  # noqa: C901", ""),
    (r", hook: Any = None", ""),
    (r"\(\n +(parse_float=parse_float, parse_constant=refuse), [^\n]*\n +\)", r"(\1)"),
)

# What comments say of things that are not here; if one is worded anew, its line here may go.
WORDING: Final = (
    (r" *# What repair closes would be complete to a schema, .*\n", ""),
    (r" Many documents are always read carefully\.", ""),
    (r"(?s) *# Most pieces of an answer are plain.*?without calling either\.\n", ""),
    (r"(?s)All of a `Document` but its.*?is a Python class\.\n    ", "What `Document` does."),
    (r", and the inside of the Rebuilder", ""),
    (r"as `Document` and `Rebuilder` show it", "as `Document` shows it"),
    (r"Parser and Rebuilder in one, for those who only want the value", "A value that grows"),
    (r", and with many documents run on where one was given up", ", with nothing held"),
    (r", a limit passed, one of many documents invalid", " or a limit passed"),
    (r": raise, or begin the next of many documents", ""),
    (r", as numbers (of the compiler's|for the compiler)", ""),
    (r" The two names are for the compiler, which knows their types\.", ""),
    (r", and offsets beyond it still fit a machine word when compiled", ""),
    (r" *# What a compiled class cannot do in an `__init__`.*\n", ""),
    (
        r": a set when they must be unique, a list when it may have to be\n +# known later.*",
        ", if they must be unique.",
    ),
    (r"that jsonrill raises on data", "in what is read"),
    (r"(?s)\n\n +With `cut` the answer goes on behind.*?\n +\"\"\"", '"""'),
    (r"(?s) `text` is what was read of the answer.*?the caller's type\.", ""),
    (r"(?s)\n\n +`readings` says what the text may mean.*?\n +\"\"\"", '"""'),
    (r"(?s)\n\n +`reason` says why: `length`.*?\n +\"\"\"", '"""'),
    (r"(?s)With a `schema` \(as `values` takes it\).*?None if the", "None if the"),
)
# What is said of a module of which little is left.
ABOUT: Final = {
    "jsontext": "Quoting, for keys in the path of an error.",
    "options": "Options of `Document`.",
    "partial": "The value of a text that is there at once.",
}

HEADER: Final = '''\
"""A strict parser of JSON that is still arriving: jsonrill {version} in one file, to vendor.

    from jsonrill_partial import Document, partial, values

    partial('{{"title": "Les Mis')      # the value of a text that may be cut off anywhere
    for value in values(pieces): ...   # the value after each piece; async for, if pieces are async
    document = Document()              # by hand: feed(piece), value, flush()

Pieces are str or bytes, cut anywhere. Strings grow, numbers and literals are complete or absent,
limits bound what strangers send, and each error has its offset, line, column and path.

Needs Python 3.11 and nothing else. Generated from jsonrill by `make vendor`: do not edit it, but
generate it again. Repair of near-JSON, schemas, many documents and the compiled speed are in the
package.

{licence}
"""

from __future__ import annotations

'''

# What takes the place of the library's checks of options and of its sources of all kinds.
OPTIONS: Final = '''\
def check(**options: Any) -> None:
    """`ValueError` if one of these options has a value that is not allowed."""
    for name, value in options.items():
        good, allowed = _ALLOWED[name]
        if not good(value):
            raise ValueError(f"{{name}} is {{allowed}}, not {{value!r}}")


_ALLOWED: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {{
    "duplicates": (lambda value: value in ("last", "error"), {duplicates!r}),
    "parse_float": (callable, {parse_float!r}),
    "limits": (lambda value: value is None or isinstance(value, Limits), {limits!r}),
}}
'''
VALUES: Final = '''\
_END: Final[Any] = object()


def values(source: Any, *, live: bool = False, **options: Any) -> Any:
    """Yield the value after each piece of text that changed it, safe to keep.

    The source is a text, an iterable of pieces, or an async iterable; the last gives an async
    iterator. With `live=True` the value is not copied, and changes with the next piece. Options
    are those of `Document`. What was good before an error is yielded before it is raised.
    """
    document = Document(**options)
    if isinstance(source, AsyncIterable):
        return _values_async(document, source, live)
    if isinstance(source, (str, bytes, bytearray, memoryview)):
        source = (source,)
    return _values(document, iter(source), source, live)


def _step(document: Document, piece: Any, live: bool) -> Iterator[Any]:
    try:
        changed = document.flush() if piece is _END else document.feed(piece)
    except (InvalidJSON, LimitExceeded):
        if document.changed:
            yield document.live if live else document.value
        raise
    if changed:
        yield document.live if live else document.value


def _values(document: Document, pieces: Any, source: Any, live: bool) -> Iterator[Any]:
    ended = False
    try:
        for piece in pieces:
            yield from _step(document, piece, live)
        ended = True
        yield from _step(document, _END, live)
    finally:
        close = None if ended else _closer(pieces, source, "close")
        if close is not None:
            close()


async def _values_async(document: Document, source: Any, live: bool) -> AsyncIterator[Any]:
    pieces = aiter(source)
    ended = False
    try:
        async for piece in pieces:
            for value in _step(document, piece, live):
                yield value
        ended = True
        for value in _step(document, _END, live):
            yield value
    finally:
        close = None if ended else _closer(pieces, source, "aclose", "close")
        if close is not None:
            closing = close()
            if isawaitable(closing):
                await closing


def _closer(pieces: Any, source: Any, *names: str) -> Callable[[], Any] | None:
    """The method that closes a source that is left early, or None."""
    methods = (getattr(it, name, None) for it in (source, pieces) for name in names)
    return next(filter(callable, methods), None)
'''
# The same in JavaScript is what esbuild takes of js/src for these names. `values` is not among
# them: there it reads any source, a provider's stream too, and brings all that with it.
JS_ENTRY: Final = """\
export { Document } from "./build/document.js";
export {
  InvalidJSON, JsonrillError, LimitExceeded, StreamClosed, Truncated,
} from "./errors.js";
export { partial } from "./streams/documents.js";
"""
JS_HEADER: Final = """\
/**
 * A strict parser of JSON that is still arriving: jsonrill {version} in one file, to vendor.
 *
 *   import {{ Document, partial }} from "./jsonrill_partial.js";
 *
 * Generated from jsonrill by `make vendor`: do not edit it, but generate it again.
 *
"""
# What a type checker does not know of the standard library.
UNTYPED: Final = {"json.decoder": "  # type: ignore[attr-defined]  # not in typeshed"}
IMPORTS_BELOW: Final = {
    "collections.abc": {"AsyncIterable", "AsyncIterator", "Callable", "Iterator"},
    "inspect": {"isawaitable"},
    "typing": {"Any", "Final"},
}

COMMENT_WIDTH: Final = 98
Edit = tuple[int, int, str]
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Text:
    """The text of a module, its tree, and the edits of one pass over it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self.edits: list[Edit] = []
        self.lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line))

    def at(self, line: int, column: int) -> int:
        """The index of a place that the tree names in bytes of a line."""
        before = self.lines[line - 1].encode()[:column].decode() if line <= len(self.lines) else ""
        return self._starts[line - 1] + len(before)

    def span(self, node: Any) -> tuple[int, int]:
        end = self.at(node.end_lineno, node.end_col_offset)
        return self.at(node.lineno, node.col_offset), end

    def source(self, node: Any) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def line_start(self, line: int) -> int:
        return self._starts[line - 1]

    def first_line(self, node: Any) -> int:
        """The line at which a statement begins, with its decorators and the comment above it."""
        line: int = min([node.lineno, *(it.lineno for it in getattr(node, "decorator_list", ()))])
        while line > 1 and self.lines[line - 2].strip().startswith("#"):
            line -= 1
        return line

    def block(self, body: list[ast.stmt]) -> str:
        """The statements of a body as they stand, with their comments."""
        start = self.line_start(self.first_line(body[0]))
        return self.text[start : self.line_start(body[-1].end_lineno or 0) + self._last(body)]

    def _last(self, body: list[ast.stmt]) -> int:
        return len(self.lines[(body[-1].end_lineno or 0) - 1])

    def remove(self, node: Any, body: list[Any]) -> None:
        """Take a statement out of its body, which must not be left empty."""
        start, end = self.line_start(self.first_line(node)), self.line_start(node.end_lineno + 1)
        indent = " " * node.col_offset
        left = [it for it in body if it is not node and not _is_docstring(it)]
        self.edits.append((start, end, "" if left else f"{indent}pass\n"))

    def edited(self) -> str | None:
        """The text after the outermost edits; None if there are none."""
        if not self.edits:
            return None
        parts: list[str] = []
        done = 0
        for start, end, new in sorted(self.edits, key=lambda edit: (edit[0], -edit[1])):
            if start >= done:
                parts += (self.text[done:start], new)
                done = end
        return "".join((*parts, self.text[done:]))


def _is_docstring(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def bodies(tree: ast.AST) -> Iterator[list[Any]]:
    """All lists of statements in a tree."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            if isinstance(body := getattr(node, name, None), list) and body:
                yield body


# ---- fold ----


class Folding:
    """Decides what is known, and remembers which decisions were of use."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def run(self, text: str) -> str:
        """The text with all that is known decided."""
        for pattern, new in INSTEAD:
            text, times = re.subn(pattern, new, text, flags=re.MULTILINE)
            if times:
                self.used.add(pattern)
        for pattern, new in WORDING:
            text = re.sub(pattern, new, text)
        while (edited := self._once(Text(text))) is not None:
            text = edited
        return text

    def unused(self) -> set[str]:
        """The decisions that fitted nothing."""
        return {*FALSE, *TRUE, *WITHOUT, *(pattern for pattern, _ in INSTEAD)} - self.used

    def truth(self, node: ast.expr) -> bool | None:
        """Whether a condition is true, if that is known."""
        written = ast.unparse(node)
        if written in FALSE or written in TRUE:
            self.used.add(written)
            return written in TRUE
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.truth(node.operand)
            return None if inner is None else not inner
        if isinstance(node, ast.BoolOp):
            known = [self.truth(it) for it in node.values]
            decisive = isinstance(node.op, ast.Or)
            if decisive in known:
                return decisive
            return None if None in known else not decisive
        return None

    def _once(self, text: Text) -> str | None:
        for node in ast.walk(text.tree):
            if isinstance(node, ast.IfExp):
                self._choice(text, node)
            elif isinstance(node, ast.BoolOp):
                self._operands(text, node)
            elif isinstance(node, ast.FunctionDef):
                self._parameters(text, node)
            elif isinstance(node, ast.Call):
                self._arguments(text, node)
        for body in bodies(text.tree):
            for before, node in zip([None, *body], body, strict=False):
                if isinstance(before, (ast.Return, ast.Raise, ast.Continue)):
                    text.remove(node, body)
                else:
                    self._statement(text, node, body)
        return text.edited()

    def _statement(self, text: Text, node: ast.stmt, body: list[ast.stmt]) -> None:
        if isinstance(node, ast.FunctionDef) and "overload" in map(
            ast.unparse, node.decorator_list
        ):
            text.remove(node, body)
        elif isinstance(node, ast.If):
            self._if(text, node, body)
        elif isinstance(node, ast.Try) and _only_raises(node):
            self._put_body(text, node, node.body)
        elif isinstance(node, ast.While) and _runs_once(node):
            self._put_body(text, node, node.body)
        elif (written := ast.unparse(node).replace("'", '"')) in WITHOUT:
            self.used.add(written)
            text.remove(node, body)

    def _put_body(self, text: Text, node: Any, body: list[ast.stmt]) -> None:
        start, end = text.line_start(node.lineno), text.line_start(node.end_lineno + 1)
        inside = textwrap.dedent(text.block(body))
        text.edits.append((start, end, textwrap.indent(inside, " " * node.col_offset)))

    def _if(self, text: Text, node: ast.If, body: list[ast.stmt]) -> None:
        known = self.truth(node.test)
        if known is None:
            return
        start, end = text.line_start(node.lineno), text.line_start((node.end_lineno or 0) + 1)
        indent = " " * node.col_offset
        is_elif = text.source(node).startswith("elif")
        if known or (node.orelse and not text.source(node.orelse[0]).startswith("elif")):
            chosen = node.body if known else node.orelse
            if is_elif:
                text.edits.append((start, end, f"{indent}else:\n{text.block(chosen)}"))
            else:
                self._put_body(text, node, chosen)
        elif not node.orelse:
            if is_elif:
                text.edits.append((start, end, ""))
            else:
                text.remove(node, body)
        else:  # the next `elif` takes its place
            rest = text.text[text.span(node.orelse[0])[0] : end]
            text.edits.append((start, end, indent + (rest if is_elif else rest[2:])))

    def _choice(self, text: Text, node: ast.IfExp) -> None:
        known = self.truth(node.test)
        if known is None:
            return
        chosen = node.body if known else node.orelse
        start, end = text.span(node)
        new = text.source(chosen)
        enclosed = text.text[:start].rstrip()[-1] in "(=" or text.text[:start].endswith("return ")
        if isinstance(chosen, (ast.BoolOp, ast.IfExp, ast.Compare)) and not enclosed:
            new = f"({new})"
        text.edits.append((start, end, new))

    def _operands(self, text: Text, node: ast.BoolOp) -> None:
        known = [self.truth(it) for it in node.values]
        if all(it is None for it in known):
            return
        start, end = text.span(node)
        whole = self.truth(node)
        if whole is not None:
            text.edits.append((start, end, repr(whole)))
            return
        word = " or " if isinstance(node.op, ast.Or) else " and "
        left = [it for it, truth in zip(node.values, known, strict=True) if truth is None]
        if len(left) > 1:
            new = word.join(_enclosed(text, it) for it in left)
        else:
            new = text.source(left[0])
        text.edits.append((start, end, new))

    def _parameters(self, text: Text, node: ast.FunctionDef) -> None:
        names = {it.arg for it in (*node.args.args, *node.args.kwonlyargs)}
        if not names & GONE:
            return
        kept = node.args
        positional: list[Any] = [None] * (len(kept.args) - len(kept.defaults)) + [*kept.defaults]
        pairs = [it for it in zip(kept.args, positional, strict=True) if it[0].arg not in GONE]
        keyed = [
            it
            for it in zip(kept.kwonlyargs, kept.kw_defaults, strict=True)
            if it[0].arg not in GONE
        ]
        kept.args = [it for it, _ in pairs]
        kept.defaults = [default for _, default in pairs if default is not None]
        kept.kwonlyargs = [it for it, _ in keyed]
        kept.kw_defaults = [default for _, default in keyed]
        start = text.text.index("(", text.span(node)[0]) + 1
        after = node.returns or node.body[0]
        end = text.text.rindex(")", start, text.span(after)[0])
        text.edits.append((start, end, ast.unparse(kept)))

    def _arguments(self, text: Text, node: ast.Call) -> None:
        gone = [it for it in node.args if isinstance(it, ast.Name) and it.id in GONE]
        gone_keys = [it for it in node.keywords if it.arg in GONE]
        if not gone and not gone_keys:
            return
        kept: list[Any] = [it for it in node.args if it not in gone]
        kept += [it for it in node.keywords if it not in gone_keys]
        start, end = text.span(node.func)[1], text.span(node)[1]
        text.edits.append((start, end, f"({', '.join(map(text.source, kept))})"))


def _enclosed(text: Text, node: ast.expr) -> str:
    return f"({text.source(node)})" if isinstance(node, ast.BoolOp) else text.source(node)


def _only_raises(node: ast.Try) -> bool:
    """True if the handlers raise again what they caught, and do nothing else that matters."""
    return (
        not node.finalbody
        and not node.orelse
        and all(
            isinstance(end := handler.body[-1], ast.Raise)
            and (end.exc is None or ast.unparse(end.exc) == handler.name)
            for handler in node.handlers
        )
    )


def _runs_once(node: ast.While) -> bool:
    """True for a loop that its last statement leaves."""
    return (
        ast.unparse(node.test) == "True"
        and isinstance(node.body[-1], (ast.Return, ast.Raise))
        and not any(isinstance(it, ast.Continue) for it in ast.walk(node))
    )


# ---- shake ----


def names_of(node: ast.stmt) -> list[str]:
    """The names that a statement of a module defines."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [it.id for it in ast.walk(node.targets[0]) if isinstance(it, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def loads(node: ast.AST) -> tuple[set[str], set[str]]:
    """The names and the attributes that are read in a tree."""
    names = {it.id for it in ast.walk(node) if isinstance(it, ast.Name)}
    members: set[str] = set()
    for it in ast.walk(node):
        if isinstance(it, ast.Attribute) and isinstance(it.ctx, ast.Load):
            members.add(it.attr)
        elif isinstance(it, ast.AugAssign) and isinstance(it.target, ast.Attribute):
            members.add(it.target.attr)
    return names, members


class Reached:
    """What the public names need: definitions of modules, and members of classes."""

    def __init__(self, trees: list[ast.Module]) -> None:
        self.names = {*PUBLIC}
        self.members = {*MEMBERS}
        nodes = [node for tree in trees for node in tree.body if names_of(node)]
        seen: set[int] = set()
        while waiting := [it for it in self._of(nodes) if id(it) not in seen]:
            for it in waiting:
                seen.add(id(it))
                names, members = loads(it)
                self.names |= names
                self.members |= members

    def _of(self, nodes: list[ast.stmt]) -> Iterator[ast.AST]:
        """The trees that are needed now: of a class its head, and the members that are used."""
        for node in nodes:
            if self.names.isdisjoint(names_of(node)):
                continue
            if isinstance(node, ast.ClassDef):
                yield from (*node.bases, *node.decorator_list)
                yield from (it for it in node.body if self.has(it))
            else:
                yield node

    def has(self, member: ast.stmt) -> bool:
        """True for a member of a class that is used, or that Python uses.

        `__slots__` go: they would be an eighth of the file, and say what `__init__` says.
        """
        names = names_of(member)
        if names == ["__slots__"]:
            return False
        return not names or any(it in self.members or it.startswith("__") for it in names)


def shaken(text: Text, used: Reached) -> str | None:
    """The text without what is not used; None if all is."""
    for node in text.tree.body:
        names = names_of(node)
        if names and used.names.isdisjoint(names):
            text.remove(node, text.tree.body)
        elif isinstance(node, ast.ClassDef):
            for member in node.body:
                if not used.has(member):
                    text.remove(member, node.body)
                elif isinstance(member, ast.FunctionDef):
                    _fields(text, member, used.members)
    return text.edited()


def _fields(text: Text, method: ast.FunctionDef, used: set[str]) -> None:
    """Take out where a field is set that nobody reads."""
    for body in bodies(method):
        for node in body:
            if not isinstance(node, (ast.Assign, ast.AnnAssign)):
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if len(targets) == 1 and isinstance(target := targets[0], ast.Attribute):
                if target.attr not in used:
                    text.remove(node, body)


# ---- join ----


def imports_of(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Module and name of what is imported from the standard library; "" for a whole module."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from ((it.name, "") for it in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module != "__future__":
            yield from ((node.module or "", it.name) for it in node.names)


def section(name: str, text: Text) -> str:
    """The definitions of a module below a line that names it, and what it says of itself."""
    kept = [it for it in text.tree.body if names_of(it)]
    if not kept:
        return ""
    about = ABOUT.get(name) or (ast.get_docstring(text.tree) or "").partition("\nRule 3")[0]
    if "Rule 1" not in about:
        about = about.partition("\n\n")[0]
    paragraphs = [
        it if it.startswith((" ", "Rule")) else textwrap.fill(it, COMMENT_WIDTH)
        for it in about.strip().split("\n\n")
    ]
    comment = textwrap.indent("\n\n".join(paragraphs), "# ", lambda line: True)
    comment = re.sub(r"(?m)^# $", "#", comment)
    code = text.text[text.line_start(text.first_line(kept[0])) :]
    title = name.rpartition("/")[2]
    return f"# ---- {title} ----\n#\n{comment}\n\n{code.strip()}\n\n\n"


def assembled() -> str:
    """The file, before it is formatted."""
    folding = Folding()
    texts = {}
    for part in PARTS:
        text = folding.run(file_of(part).read_text("utf8"))
        texts[part] = _some_of(Text(text), ONLY[part]) if part in ONLY else text
    if unused := folding.unused():
        raise SystemExit(f"tools/vendor.py: nothing in the library fits {sorted(unused)}")
    while True:
        parsed = {part: Text(text) for part, text in texts.items()}
        used = Reached([it.tree for it in parsed.values()])
        changed = {part: new for part, it in parsed.items() if (new := shaken(it, used))}
        if not changed:
            break
        texts |= changed
    return _joined(parsed, used)


def file_of(part: str) -> Path:
    """The module of a part."""
    if part != "partial":
        return LIBRARY / f"{part}.py"
    sys.path.insert(0, str(LIBRARY.parent))
    import jsonrill

    return Path(jsonrill.partial.__code__.co_filename)


def _some_of(text: Text, names: set[str]) -> str:
    """The text of a module with these definitions alone."""
    for node in text.tree.body:
        if names_of(node) and names.isdisjoint(names_of(node)):
            text.remove(node, text.tree.body)
    return text.edited() or text.text


def _joined(parsed: dict[str, Text], used: Reached) -> str:
    names = [name for it in parsed.values() for node in it.tree.body for name in names_of(node)]
    if twice := {name for name in names if names.count(name) > 1}:
        raise SystemExit(f"tools/vendor.py: defined in two modules: {sorted(twice)}")
    wanted = {module: {*imported} for module, imported in IMPORTS_BELOW.items()}
    for text in parsed.values():
        for module, name in imports_of(text.tree):
            if (name or module) in used.names:
                wanted.setdefault(module, set()).add(name)
    imports = [
        f"from {module} import {', '.join(sorted(named))}{UNTYPED.get(module, '')}\n"
        if named != {""}
        else f"import {module}\n"
        for module, named in sorted(wanted.items())
    ]
    scope = _constants()
    body = [section(part, text) for part, text in parsed.items()]
    options = OPTIONS.format(**scope["allowed"])
    at = PARTS.index("parse/states")
    body.insert(at, f"{options}\n\n")
    names_line = ", ".join(f'"{name}"' for name in sorted((*PUBLIC, "values")))
    public = f"__all__ = [{names_line}]\n\n\n"
    header = HEADER.format(version=scope["version"], licence=scope["licence"])
    return f"{header}{''.join(imports)}\n{public}{''.join(body)}# ---- values ----\n\n{VALUES}"


def _constants() -> dict[str, Any]:
    """Version, licence and the words of options, as the library has them."""
    sys.path.insert(0, str(LIBRARY.parent))
    import jsonrill
    from jsonrill.options import TABLE

    allowed = {name: TABLE[name].allowed for name in ("duplicates", "parse_float", "limits")}
    licence = (ROOT / "LICENSE").read_text("utf8").strip()
    return {"version": jsonrill.__version__, "licence": licence, "allowed": allowed}


def write(target: Path) -> int:
    """Write the file, formatted; returns how many lines it has."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(assembled(), "utf8", newline="\n")
    ruff = [sys.executable, "-m", "ruff"]
    config = f"--config={ROOT / 'pyproject.toml'}"
    quiet = ("--quiet", "--no-cache", config, str(target))
    subprocess.run([*ruff, "check", "--select=I,E713,PIE790", "--fix", *quiet], check=True)
    subprocess.run([*ruff, "format", *quiet], check=True)
    return len(target.read_text("utf8").splitlines())


def write_js(target: Path, esbuild: Path) -> int:
    """The same for JavaScript, bundled by esbuild; returns how many lines it has."""
    scope = _constants()
    banner = JS_HEADER.format(version=scope["version"])
    banner += (
        "".join(f" * {line}".rstrip() + "\n" for line in scope["licence"].splitlines()) + " */"
    )
    subprocess.run(
        [
            *(str(esbuild), "--bundle", "--format=esm", "--target=es2022", "--charset=utf8"),
            *("--log-level=warning", f"--banner:js={banner}", f"--outfile={target}"),
        ],
        input=JS_ENTRY,
        text=True,
        encoding="utf8",
        cwd=ROOT / "js" / "src",
        check=True,
    )
    return len(target.read_text("utf8").splitlines())


def main() -> None:
    print(f"{TARGET.relative_to(ROOT)}: {write(TARGET)} lines")
    npm = shutil.which("npm")
    if npm is None:
        print("without dist/jsonrill_partial.js: npm, which brings esbuild, is not installed")
        return
    install(npm)
    target = TARGET.with_suffix(".js")
    esbuild = TOOLS / "node_modules" / ".bin" / "esbuild"
    print(f"{target.relative_to(ROOT)}: {write_js(target, esbuild)} lines")


if __name__ == "__main__":
    main()
