r"""A backslash that is not escaped: a path, a regular expression or a formula in a string.

`{"p": "C:\docs\file.txt"}`: `\d` is not an escape of JSON's, so backslashes are text in this
string, that of `\f`, too. What decides is the text around it, never how the text was cut.
"""

from __future__ import annotations

from typing import Final

from . import patterns

# What is an escape in JSON, but hardly ever meant as one next to a backslash that is text.
DOUBTFUL: Final = "bfnrtu"
# Escapes of Python's that JSON does not have.
PYTHON: Final = "xU0vaN1234567"

# Commands of TeX that begin like an escape of JSON's.
TEX_NAMES: Final = frozenset(
    """
    bar begin beta big bigcap bigcup bigg bigl bigr binom bmod boldsymbol bot boxed breve bullet
    fbox flat footnote forall frac frown nabla ne nearrow neg neq newcommand newline nexists
    ngeq ni nleq nmid nolimits nonumber not notin nu rVert rangle rbrace rceil ref rfloor rho
    right rightarrow rm root tag tan tanh tau text textbf textit textrm texttt tfrac therefore
    theta tilde times tiny to top triangle underbrace underline underset uparrow uplus upsilon
    """.split()
)


def is_literal(whole: str, text: str, pos: int, last: bool) -> bool | None:
    """True if the backslash at `pos` is text like one before it; None if more text must come.

    `whole` is the text of the string so far.
    """
    if whole[1:3] == ":\\":
        return True
    # Since the first such backslash, with the character before it.
    before = whole[max(whole.find("\\") - 1, len(whole) - 200, 0) :]
    size = 5 if text[pos + 1] == "u" else 3 if text[pos + 1] == "x" else 1
    after = pos + 1 + size
    if len(text) < after + 2 and not last:
        return None
    spaced = " " in before and text[pos + 1] not in "bf"
    if not spaced and (
        patterns.REGEX.search(before)
        or (
            patterns.BACKSLASH_LAST.search(before)
            and (text[pos + 1] in "bf" or patterns.REGEX_AFTER.match(text, after))
        )
    ):
        return True
    if patterns.PATH.search(before):
        if patterns.PATH_AFTER.match(text, pos + 1):
            return True
        if patterns.PATH_CUT.match(text, pos + 1) and len(text) - pos < 80:
            return True if last else None
    if patterns.TEX.search(before):
        name = patterns.TEX_NAME.match(text, pos + 1)
        if name is None:
            return False
        if name.end() == len(text):
            cut = any(one.startswith(name.group()) for one in TEX_NAMES)
            return (cut if last else None) if name.end() - name.start() < 24 else False
        return name.group() in TEX_NAMES or text[name.end()] == "{"
    return False


def is_unsure(whole: str, text: str, pos: int, last: bool, python: bool) -> bool | None:
    r"""True if the backslash at `pos`, the first that begins no escape, may not be text.

    It begins an escape of another language or half of one: `\x41`, `\u{1F600}`, `\u20`, the end of
    a line, and in a text that has quotes of Python's (`python`) `\0` and its like. Or the string
    has an escape before it that is doubtful now. None if more text must come to tell.
    """
    char = text[pos + 1 : pos + 2]
    if char in "\r\n" or text.startswith("u{", pos + 1):
        return True
    if char.isalnum() and (patterns.CONTROL.search(whole) or patterns.NETWORK.match(whole)):
        return True
    if whole[1:] == ":" or patterns.IN_REGEX.search(whole[-1:]):
        return False
    if python and char and char in PYTHON:
        return True
    cut = patterns.PYTHON_CODE_CUT.match(text, pos + 1) and not last
    return None if cut else patterns.PYTHON_CODE.match(text, pos + 1) is not None
