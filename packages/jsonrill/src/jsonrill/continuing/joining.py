"""How the text of a second answer joins that of the first one.

Models that are asked to go on continue at the character, repeat the last words first, begin again,
wrap the rest in a fence or a sentence, or send only the missing fields. Each is a way, and all
that are possible are kept side by side. A way is given up when its text is not JSON, breaks the
schema, or contradicts what is complete. Nothing is shown while more than one is left: a wrong value
is worse than another attempt. For example, after `{"a": "one two`:

     three", "b": 1}               goes on: no sentence has a quote, a comma and a key
    one two three", "b": 1}        repeats the last words
    {"a": "one two three", …}      begins again: `{"` cannot go on
    Here it is:\\n three", "b": 1}  a sentence: a line break cannot be inside of a string
"""

from __future__ import annotations

import re
from typing import Final

from ..errors import InvalidJSON, LimitExceeded
from ..jsontext import dumps
from ..parse.machine import Machine
from .anew import Anew, Contradiction, NotJoined
from .joined import JoinedText
from .outline import Outline

# As much is read before overlaps are looked for.
_FEW: Final = 4
# An overlap of that many characters in a string is one, if it has a word that came only there: not
# an escape, and no run of zeros or the like.
_CERTAIN: Final = 14
_LONG_WORD: Final = re.compile(r"(?<![\w\\])\w{4,}")
# No sentence before the rest is longer, and none has this number of tokens of JSON.
_LONGEST_LEAD: Final = 400
_TOKENS: Final = 3
_FENCE: Final = re.compile(r"\s*```[^\n`]*\n")
# The end of a fence, and what may become one.
_CLOSING: Final = re.compile(r"\n[ \t]*(?:```|`{0,2}$)")
# How models begin to talk before they go on.
_OPENINGS: Final = (
    *("```", "sure", "here", "certainly", "of course", "okay", "ok,", "continu", "the rest"),
    *("the remain", "below", "sorry", "apolog", "i ", "i'", "let me", "understood", "absolutely"),
    *("got it", "yes", "no problem", "as requested", "the complete", "the full"),
)
# A sentence before the rest, on the same line.
_ANNOUNCED: Final = re.compile(r"[^\n\"{}\[\]:]+(?:: |(?=[{\[]))")
_JSON: Final = re.compile(r"[\"{}\[\]]")
# What may follow a complete value: a fence, or talk.
_TALK: Final = re.compile(r"\s*(?:`|$)|\s+[^\s{}\[\],:\"0-9-]")


class Way:
    """One way in which a text may join: the text that it makes, and whether it is possible."""

    def __init__(self, joined: JoinedText, *, fenced: bool) -> None:
        self.joined = joined
        self.joined.outline.unique = True
        self.joined.ended = False
        self._plain = joined.plain
        self.contradiction: Contradiction | None = None
        self._failed = False
        self._before = joined.outline.tokens
        self._size = joined.size
        self._fenced = fenced
        # Of a fenced text what may be the end of the fence; what is behind the value.
        self._held = ""
        self._talk = ""
        self._is_over = False

    @property
    def dead(self) -> bool:
        """True if the text cannot join in this way."""
        is_broken = self.joined.outline.dead and not self._plain
        return self._failed or is_broken or self.joined.violation is not None

    @property
    def progress(self) -> int:
        """How many tokens of JSON have come."""
        return self.joined.outline.tokens - self._before

    @property
    def has_grown(self) -> bool:
        """True if it has added something."""
        return self.joined.size > self._size

    @property
    def reading(self) -> str:
        """What the text means: ways that make the same of it need not be told apart."""
        joined = self.joined
        if self._plain:
            return joined.text
        return dumps([joined.document().value, joined.outline.pending_key, joined.outline.word])

    def feed(self, piece: str) -> None:
        """Read on: up to the end of the fence or of the value, behind which only talk may come."""
        if self._fenced:
            piece = self._held + piece
            end = _CLOSING.search(piece)
            self._held = "" if end is None or self._is_over else piece[end.start() :]
            piece = piece if end is None else piece[: end.start()]
            if self._is_over:
                return
            self._is_over = self._held.lstrip().startswith("```")
        self._talk += self._take(piece) if not self._talk else piece
        self._failed = self._failed or _TALK.match(self._talk) is None

    def _take(self, piece: str) -> str:
        """Add the text that a piece stands for; returns what is behind the value."""
        raise NotImplementedError


class GoesOn(Way):
    """The text goes on where the first one ended, behind what it repeats."""

    def __init__(self, first: JoinedText, overlap: int = 0, *, fenced: bool = False) -> None:
        super().__init__(first.fork(), fenced=fenced)
        self.overlap = overlap
        self._skip = overlap

    def _take(self, piece: str) -> str:
        skipped = min(self._skip, len(piece))
        self._skip -= skipped
        return self.joined.add(piece[skipped:]) if skipped < len(piece) else ""


class BeginsAgain(Way):
    """The text is a value of its own: all of it again, or what is missing."""

    def __init__(self, first: JoinedText, *, fenced: bool = False) -> None:
        super().__init__(first.fork(rewound=True), fenced=fenced)
        document = first.document()
        path = document.open_path
        self._failed = path is None
        self._sink = Anew(document.value, path or (), first.outline.pending_key)
        self._machine = Machine(self._sink)
        self._outline = Outline()

    @property
    def progress(self) -> int:
        return self._outline.tokens

    @property
    def is_sure(self) -> bool:
        """True if the text has something of the first one, or what its schema asks for."""
        return self._sink.agrees or self.joined.has_schema

    def _take(self, piece: str) -> str:
        size = self._outline.feed(piece)
        self._failed = self._failed or self._outline.dead
        try:
            self._machine.feed(piece[:size])
        except Contradiction as contradiction:
            self.contradiction = contradiction
            self._failed = True
        except (NotJoined, InvalidJSON, LimitExceeded):
            self._failed = True
        if not self._failed:
            self.joined.add(self._sink.take())
        return piece[size:]


class _Start:
    """The ways of a text that begins at a place of the second answer."""

    def __init__(self, first: JoinedText, *, fenced: bool = False, dropped: str = "") -> None:
        self._first = first
        self._fenced = fenced
        # White space at the end of the first text that the model did not get to see.
        self._dropped = dropped
        self._text = ""
        self._begun = False
        self.ways: list[Way] = []
        # Where in the first text the second one may have begun to repeat it.
        self._overlaps: list[int] = []

    @property
    def alive(self) -> list[Way]:
        """The ways that are left."""
        return [way for way in self.ways if not way.dead]

    @property
    def settled(self) -> bool:
        """True if no other way can come up."""
        return self._begun and not self._overlaps

    def feed(self, piece: str) -> None:
        """Read on in all ways."""
        self._text += piece
        if self._begun:
            for way in self.alive:
                way.feed(piece)
            self._repeat(len(piece))
        elif len(self._text) >= max(_FEW, len(self._dropped)):
            self._begin()

    def flush(self) -> None:
        """The text has ended."""
        if not self._begun:
            self._begin()
        # What did not repeat all of the end repeated nothing.
        self._overlaps = []

    def _begin(self) -> None:
        self._begun = True
        first, text = self._first, self._text
        is_same = bool(self._dropped) and text.startswith(self._dropped)
        self.ways = [GoesOn(first, len(self._dropped) if is_same else 0, fenced=self._fenced)]
        if not first.plain and text.lstrip()[:1] in ("{", "["):
            self.ways.append(BeginsAgain(first, fenced=self._fenced))
        for way in self.ways:
            way.feed(text)
        whole = first.text
        self._overlaps = [*range(max(len(whole) - _FEW + 1, 0), len(whole))]
        at = whole.find(text[:_FEW]) if len(text) >= _FEW else -1
        while at >= 0:
            self._overlaps.append(at)
            at = whole.find(text[:_FEW], at + 1)
        self._repeat(len(text))

    def _repeat(self, size: int) -> None:
        """Follow what may be a repetition of the end; one that is complete is a way.

        `size` is that of the new text.
        """
        whole, text = self._first.text, self._text
        before = len(text) - size
        same = [at for at in self._overlaps if _agree(whole, at + before, text, before)]
        self._overlaps = [at for at in same if len(whole) - at > len(text)]
        for at in same:
            if len(whole) - at <= len(text):
                self._add_repetition(len(whole) - at)

    def _add_repetition(self, size: int) -> None:
        first = self._first
        if not _may_repeat(first, size):
            return
        if _is_repetition(first, size):
            self.ways = [way for way in self.ways if not isinstance(way, GoesOn) or way.overlap]
        if size == first.size:
            self.ways = [way for way in self.ways if not isinstance(way, BeginsAgain)]
        way = GoesOn(first, size, fenced=self._fenced)
        way.feed(self._text)
        self.ways.append(way)


class Joiner:
    """Joins the text of an answer to what has arrived before it.

    That may be one of several texts (`firsts`), if it is not certain how the answers before joined.
    `dropped` is the white space at the end that was left out of a text that the model was to go on
    with; None if it was asked in another way.
    """

    def __init__(self, firsts: list[JoinedText], *, dropped: str | None = None) -> None:
        self._firsts = firsts
        self._prefilled = dropped is not None
        self._text = ""
        # Where the text begins that is tried.
        self._at = 0
        self._starts = [_Start(first, dropped=dropped or "") for first in firsts]
        self.way: Way | None = None
        # True if no way is left.
        self.failed = False

    @property
    def begun(self) -> bool:
        """True if something has arrived."""
        return bool(self._text)

    def feed(self, piece: str) -> None:
        """Read on, and look whether one way is left."""
        if self.way is not None:
            self.way.feed(piece)
        elif not self.failed:
            self._text += piece
            for start in self._starts:
                start.feed(piece)
            while self._is_dead and self._next_start():
                pass
            if self._settled and len(alive := self._alive) == 1 and not self._may_be_talk(alive[0]):
                [self.way] = alive

    def flush(self) -> None:
        """The answer is complete: of the ways that are left only those count that are, too."""
        if self.way is None:
            self._flush_starts()
            while self._is_dead and self._next_start():
                self._flush_starts()
            alive = [way for way in self._alive if way.joined.complete or way.joined.plain]
            readings = {way.reading: way for way in alive}
            if len(readings) > 1 and self._prefilled and self._starts[0].ways[0] in alive:
                # Nothing else is possible for a model that goes on with its own words.
                self.way = self._starts[0].ways[0]
            elif len(readings) == 1:
                [self.way] = readings.values()
            elif not alive:
                # A text that stopped early may still go on with the first; a value does not.
                value = Outline()
                end = self._at + value.feed(self._text[self._at :])
                is_value = value.done and _TALK.match(self._text, end) is not None
                self.failed = is_value or not self._alive
        if self.way is not None:
            self.way.joined.ended = True

    def candidates(self) -> list[JoinedText]:
        """What the text may be by now, after an answer that broke off, too."""
        if self.way is not None:
            return [self.way.joined]
        alive = [*{way.reading: way for way in self._alive}.values()]
        # A number at the end of an answer that broke off may have more digits.
        if complete := [it for it in alive if it.joined.complete and not it.joined.outline.word]:
            alive = complete
        elif not self._settled or self._contradicting or _opens_talk(self._text[self._at :]):
            return self._firsts
        # What follows joins them all only if they differ inside of one string.
        is_one = len(alive) == 1 and alive[0].has_grown
        in_text = all(first.outline.in_text for first in self._firsts)
        is_any = in_text and all(isinstance(it, GoesOn) and not it.progress for it in alive)
        return [way.joined for way in alive] if is_one or (alive and is_any) else self._firsts

    @property
    def contradiction(self) -> Contradiction | None:
        """What contradicts the first text, if that is all that there is."""
        if self.way is not None:
            return self.way.contradiction
        return self._contradicting if self.failed else None

    @property
    def _alive(self) -> list[Way]:
        return [way for start in self._starts for way in start.alive]

    @property
    def _settled(self) -> bool:
        """True if all ways are known."""
        return all(start.settled for start in self._starts)

    @property
    def _is_dead(self) -> bool:
        return self._settled and not self._alive and not self.failed

    def _flush_starts(self) -> None:
        for start in self._starts:
            start.flush()

    def _may_be_talk(self, way: Way) -> bool:
        """True if the text may be a sentence before the rest, as far as it has arrived."""
        if isinstance(way, BeginsAgain):
            return not way.is_sure
        if self._contradicting:
            return True  # it may be the first answer again, with something else in it
        is_repetition = isinstance(way, GoesOn) and way.overlap >= _CERTAIN
        if self._is_plain or (is_repetition and not _opens_talk(self._text[self._at :])):
            return False
        return way.progress < _TOKENS and len(self._text) - self._at < _LONGEST_LEAD

    @property
    def _is_plain(self) -> bool:
        return any(first.plain for first in self._firsts)

    @property
    def _contradicting(self) -> Contradiction | None:
        ways = [way for start in self._starts for way in start.ways]
        return next((way.contradiction for way in ways if way.contradiction), None)

    def _next_start(self) -> bool:
        """Go on behind a sentence or the beginning of a fence; False if there is none so far."""
        if self._contradicting or self._is_plain or len(self._text) > 2 * _LONGEST_LEAD:
            self.failed = True
            return False
        in_text = any(first.outline.in_text for first in self._firsts)
        place = _place_of_rest(self._text, self._at, in_text)
        if place is None:
            return False
        self._at, fenced = place
        self._starts = [_Start(first, fenced=fenced) for first in self._firsts]
        for start in self._starts:
            start.feed(self._text[self._at :])
        return True


def _opens_talk(text: str) -> bool:
    """True if a text may be the beginning of a sentence before the rest."""
    begun = text.lstrip(" \t\r\n*#>").lower()
    return any(begun.startswith(it) or it.startswith(begun) for it in _OPENINGS)


def _place_of_rest(text: str, at: int, in_text: bool) -> tuple[int, bool] | None:
    """Where the rest may begin behind a sentence, and whether a fence is before it."""
    if (fence := _FENCE.match(text, at)) is not None:
        return fence.end(), True
    if not in_text and (mark := _ANNOUNCED.match(text, at)):
        return mark.end(), False
    end = text.find("\n", at)
    if end < 0:
        return None
    line = text[at:end].rstrip()
    rest = end + 1
    while (blank := text.find("\n", rest)) >= 0 and not text[rest:blank].strip():
        rest = blank + 1
    if (fence := _FENCE.match(text, rest)) is not None:
        return fence.end(), True
    if rest == len(text) or text[rest:].lstrip().startswith("`"):
        return None
    # A line break in a string is an error of the model, unless the line announces the rest.
    if not line.endswith(":") and (in_text or _JSON.search(line)):
        return _place_of_rest(text, rest, in_text)
    return rest, False


def _agree(text: str, at: int, other: str, place: int) -> bool:
    """True if one text from a place on is the beginning of another one from its place on."""
    size = min(len(text) - at, len(other) - place)
    return text[at : at + size] == other[place : place + size]


def _may_repeat(first: JoinedText, size: int) -> bool:
    """True if the end of a text may be what a model repeats, and if that makes a difference."""
    text = first.text
    repeated = text[-size:]
    if size == len(text):
        return True
    if size < len(first.outline.word):
        return False  # who repeats a number does not begin in the middle of it
    if size == 1:
        is_word = repeated.isalnum() and not text[-2].isalnum()
        in_text = first.plain or first.outline.in_text
        return is_word or repeated == '"' or (repeated in ",:" and not in_text)
    return first.plain or first.outline.in_text or not repeated.isspace()


def _is_repetition(first: JoinedText, size: int) -> bool:
    """True if no text says the end of this one twice: it is long, and has a word of its own."""
    text = first.text
    repeated = text[-size:]
    if first.plain and _FEW <= size == len(text):
        return True  # prose that begins as the first one did begins again
    if size < _CERTAIN or not (first.plain or (first.outline.in_string and '"' not in repeated)):
        return False
    words = [word for word in _LONG_WORD.findall(repeated) if len(set(word)) >= _FEW]
    return any(text.find(word) == text.rfind(word) for word in words)
