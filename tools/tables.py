"""Writes the tables that JavaScript shares with Python, where Python has them.

python tools/tables.py          writes the files
python tools/tables.py --check  exits 1 if a file is not what it would write
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

from jsonrill import errors
from jsonrill.answers.split import TAGS
from jsonrill.errors import Limits
from jsonrill.eventstream import HEARTBEAT_SECONDS
from jsonrill.options import TABLE, Mode, taken_by
from jsonrill.parse.lenient import escapes, lookahead, patterns, rules, words
from jsonrill.providers.finish import MEANINGS, REASONS, WORDS

LIB = Path(__file__).parent.parent / "js" / "src"

# A pattern of leniency is sticky, as `match` is; global if the text is looked through with it; or
# neither, as `search` is in a short text.
GLOBAL = re.compile("BREAKS_|TAG")
SEARCHED = frozenset(
    (
        *("WORD", "LATER", "ANNOUNCES", "IN_LINE", "DUE", "OPERAND", "IN_CODE", "NO_LIST", "PART"),
        *("IN_SENTENCE", "IN_FACE", "CITES", "SECOND_SCALAR", "SECOND_IN_LINE", "TAKES_BACK"),
        *("KEY_BEFORE", "ENDS_IN_NUMBER", "LENGTH", "LABEL", "REGEX", "IN_REGEX"),
        *("NEXT_ELEMENT", "AFTER_VALUE", "CURLY_TAIL", "PATH", "TEX", "BACKSLASH_LAST"),
        *("CONTROL", "RARE", "OPEN_CURLY", "USES_NAME", "SECOND_DUE"),
    )
)
# Not for JavaScript, which decodes no containers at once and has other ways to see unusual text.
PYTHON_ONLY = frozenset(("HAS_CODE", "TEXT_BRACKET", "TUPLE_ENDS"))
# Not in JavaScript: a base of others.
PYTHON_ERRORS = frozenset(("_ParseError",))
# A reader gives up a connection when so many heartbeats in a row did not come.
HEARTBEATS = 3
WORD = r"\p{L}\p{N}_"
SPACE = r"\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
CLASSES = {"w": WORD, "s": SPACE, "d": r"\p{Nd}"}
PARTS = {
    "%b": f"[ \t\r\n{lookahead.ODD_SPACES}]",
    "%n": f"[ \t{lookahead.ODD_SPACES}]",
    "%w": "|".join(lookahead.WORDS),
}
PART = re.compile(r"\[\^?\]?(?:\\.|[^]\\])*\]|\\.|\.|[^\\[.]+", re.DOTALL)


def js(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def split_tags() -> Iterator[str]:
    yield """\
/**
 * The table of `split`, written by tools/tables.py from answers/split.py: change it there.
 * `reader` and `accepts` name functions of `splitter.js`, and what they are made with.
 */

/**
 * @typedef {{name: string, opening: string, reader: string[], accepts: string[], atLine: boolean,
 *   surely: boolean}} Tag
 */

/** @type {readonly Tag[]} */
export const TAGS = [
"""
    for tag in TAGS:
        fields = {
            "name": tag.name,
            "opening": tag.opening,
            "reader": tag.reader,
            "accepts": tag.accepts,
            "atLine": tag.at_line,
            "surely": tag.surely,
        }
        yield f"  {js(fields)},\n"
    yield "];\n"


def finish_reasons() -> Iterator[str]:
    yield f"""\
/**
 * How an answer ended, in the words of all providers, written by tools/tables.py from
 * providers/finish.py: change it there.
 */

/** @typedef {{{" | ".join(js(reason) for reason in REASONS)}}} Reason */

/** Each is worse than those before it. @type {{readonly Reason[]}} */
export const REASONS = {js(REASONS)};

/**
 * What messages say of an answer that is not complete.
 * @type {{{{[reason: string]: string}}}}
 */
export const MEANINGS = {{
"""
    yield from (f"  {reason}: {js(meaning)},\n" for reason, meaning in MEANINGS.items())
    yield """\
};

/** In small letters, without what is between them. @type {Map<string, Reason>} */
export const WORDS = new Map([
"""
    yield from (f"  [{js(word)}, {js(reason)}],\n" for word, reason in WORDS.items())
    yield "]);\n"


def modes() -> Iterator[str]:
    names = get_args(Mode)
    yield f"""\
/**
 * The modes of updates, and the options that not all of them use, written by tools/tables.py from
 * options.py: change it there.
 */

/** @typedef {{{" | ".join(js(name) for name in names)}}} Mode */

/** @type {{readonly Mode[]}} */
export const MODES = {js(names)};

/** @type {{Mode}} */
export const DEFAULT_MODE = {js(TABLE["mode"].default)};

/**
 * Their defaults, and the modes that use them.
 * @type {{{{[name: string]: {{default: any, modes: Mode[]}}}}}}
 */
export const MODE_OPTIONS = {{
"""
    for option in taken_by("updates"):
        if option.modes:
            fields = {"default": option.default, "modes": option.modes}
            yield f"  {camel(option.name)}: {js(fields)},\n"
    yield "};\n"


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


def source(pattern: str) -> str:
    """The source of JavaScript's pattern, with the flag for Unicode."""
    return "".join(map(_part, PART.findall(pattern)))


def _part(part: str) -> str:
    if part[0] == "[":
        start = 2 if part[1] == "^" else 1
        inside = part[start:-1]
        inside = "\\" + inside if inside[0] == "]" else inside
        inside = re.sub(r"\\(.)", _in_class, inside, flags=re.DOTALL)
        return f"[{part[1:start]}{inside}]"
    if part == ".":
        return r"[^\n]"
    if part[0] != "\\":
        return part
    if part[1] in "wsd":
        return f"[{CLASSES[part[1]]}]"
    # \b is only used where a word begins.
    other = {"W": f"[^{WORD}]", "b": f"(?<![{WORD}])", "A": "^", "Z": "$", '"': '"', "'": "'"}
    return other.get(part[1], part)


def _in_class(match: re.Match[str]) -> str:
    if match[1] == "W":  # [^\W\d_] are the letters
        return r"\P{L}"
    return CLASSES.get(match[1], match[1] if match[1] in "\"'" else match[0])


def constants() -> Iterator[tuple[str, str, Any]]:
    """Type, name and value of each table."""
    names = [name for name in rules.RULES if name != "by-schema"]
    yield 'readonly import("./rules.js").Rule[]', "RULES", names
    yield "{[quote: string]: string}", "QUOTES", rules.QUOTES
    table = [[word, value, rule] for word, (value, rule) in words.WORDS.items()]
    yield "[string, boolean | null, string][]", "ODD_WORDS", table
    yield "readonly string[]", "WORDS", lookahead.WORDS
    yield "", "ODD_SPACES", lookahead.ODD_SPACES
    yield "", "REACH", lookahead.REACH
    for name in ("DOUBTFUL", "PYTHON"):
        yield "", name, getattr(escapes, name)
    yield "readonly string[]", "TEX_NAMES", sorted(escapes.TEX_NAMES)
    yield "{[mark: string]: string}", "PARTS", {mark: source(part) for mark, part in PARTS.items()}
    shapes = {
        name: _short(shape.pattern)
        for name, shape in vars(lookahead).items()
        if isinstance(shape, lookahead.Shape)
    }
    yield "{[name: string]: string}", "SHAPES", shapes


def _short(pattern: str) -> str:
    """The source of a shape, with a mark for each part that is in many of them."""
    for mark, part in PARTS.items():
        pattern = pattern.replace(part, mark)
    return source(pattern)


def lenient_tables() -> Iterator[str]:
    yield """\
/**
 * The tables of leniency, written by tools/tables.py from parse/lenient/: change them there. A
 * shape is the source of a pattern, with marks for PARTS; `lookahead.js` makes it.
 */

"""
    for kind, name, value in constants():
        type_of = f"/** @type {{{kind}}} */\n" if kind else ""
        yield f"{type_of}export const {name} = {json.dumps(value)};\n"
    for name, pattern in vars(patterns).items():
        if isinstance(pattern, re.Pattern) and name not in PYTHON_ONLY:
            flags = "i" if pattern.flags & re.IGNORECASE else ""
            flags += "gu" if GLOBAL.match(name) else "u" if name in SEARCHED else "uy"
            regexp = f'new RegExp({json.dumps(source(pattern.pattern))}, "{flags}")'
            yield f"export const {name} = {regexp};\n"


def error_codes() -> Iterator[str]:
    yield """\
/**
 * What each class of errors is called on the wire, written by tools/tables.py from errors.py:
 * change it there. Constants, so that a program has only those that it uses.
 */

"""
    yield from (f"export const {code} = {js(code)};\n" for code in codes())


def defaults() -> Iterator[str]:
    yield """\
/** Defaults, written by tools/tables.py from errors.py and eventstream.py: change them there. */

/** Sizes of untrusted input, in characters and for each document. */
export const LIMITS = {
"""
    yield from (f"  {limit.name}: {limit.default:_},\n" for limit in fields(Limits))
    yield "};\n\n/** Milliseconds of silence after which a connection counts as lost. */\n"
    yield f"export const SILENCE = {HEARTBEATS * HEARTBEAT_SECONDS * 1000:_.0f};\n"


def codes() -> list[str]:
    """The codes of the classes of errors that JavaScript has."""
    classes = [it for it in vars(errors).values() if isinstance(it, type)]
    known = [it for it in classes if issubclass(it, errors.JsonrillError)]
    return [it.code for it in known if it.__name__ not in PYTHON_ERRORS]


FILES: dict[Path, Callable[[], Iterator[str]]] = {
    LIB / "answers" / "split-tags.js": split_tags,
    LIB / "parse" / "lenient" / "tables.js": lenient_tables,
    LIB / "providers" / "finish.js": finish_reasons,
    LIB / "partial-stream" / "modes.js": modes,
    LIB / "codes.js": error_codes,
    LIB / "defaults.js": defaults,
}


def stale() -> list[Path]:
    """The files that are not what would be written."""
    fresh = {file: "".join(write()) for file, write in FILES.items()}
    return [it for it, text in fresh.items() if not it.exists() or it.read_text("utf8") != text]


def main() -> int:
    files = stale()
    if "--check" in sys.argv:
        return 1 if files else 0
    for file in files:
        file.write_text("".join(FILES[file]()), "utf8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
