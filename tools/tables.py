"""Writes the tables that JavaScript shares with Python, where Python has them.

python tools/tables.py          writes the files
python tools/tables.py --check  exits 1 if a file is not what it would write
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

from jsonrill.answers.split import TAGS
from jsonrill.options import TABLE, Mode, taken_by
from jsonrill.parse.reasoning import ELEMENTS, MARKS
from jsonrill.providers.finish import MEANINGS, REASONS, WORDS

LIB = Path(__file__).parent.parent / "js" / "src"


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


def reasoning_tags() -> Iterator[str]:
    yield """\
/**
 * What models write around their reasoning, written by tools/tables.py from parse/reasoning.py:
 * change it there.
 */

/** The names of elements: `<think>` … `</think>`. */
"""
    yield f"export const ELEMENTS = {js(ELEMENTS)};\n"
    yield "/** Other marks: how reasoning begins, and how it ends. Capitals do not matter. */\n"
    yield f"export const MARKS = {js(MARKS)};\n"


def finish_reasons() -> Iterator[str]:
    yield f"""\
/**
 * How an answer ended, in the words of all providers, written by tools/tables.py from
 * providers/finish.py: change it there.
 */

/** @typedef {{{" | ".join(js(reason) for reason in REASONS)}}} Reason */

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


FILES: dict[Path, Callable[[], Iterator[str]]] = {
    LIB / "split-tags.js": split_tags,
    LIB / "lenient" / "reasoning-tags.js": reasoning_tags,
    LIB / "providers" / "finish-reasons.js": finish_reasons,
    LIB / "modes.js": modes,
}


def stale() -> list[Path]:
    """The files that are not what would be written."""
    made = {file: "".join(write()) for file, write in FILES.items()}
    return [it for it, text in made.items() if not it.exists() or it.read_text("utf8") != text]


def main() -> int:
    files = stale()
    if "--check" in sys.argv:
        return 1 if files else 0
    for file in files:
        file.write_text("".join(FILES[file]()), "utf8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
