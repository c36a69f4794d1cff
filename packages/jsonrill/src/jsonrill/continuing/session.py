"""One answer out of several: what has arrived, what an attempt adds, and whether to ask again.

No I/O: `source.py` asks and reads. A session reads statements, so that every attempt may come from
another provider, and writes events of our own (`providers/jsonrill.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..errors import CutShort, InvalidSchema, RevisionError
from ..jsontext import dumps
from ..options import Provider, Rules, Tool
from ..providers.jsonrill import ANSWER, CONTRADICTION
from ..providers.statements import Ending, Finish, Reasoning, Text, Usage, of_choice
from ..providers.usage import OUTPUT
from ..toolcalls import ToolCalls, ToolCallUpdate
from ..toolcalls.lifecycle import LiveCall
from .joined import JoinedText
from .joining import Joiner

Event = dict[str, Any]
# Ends after which nothing is asked for again.
_FINAL: Final = ("filtered", "refused")
# The number of characters of a token, where the provider does not count them.
_TOKEN: Final = 4
# Attempts that get on are not counted; but this many times the limit is enough.
_MOST: Final = 10


class Track:
    """A text, or the arguments of a call, as it is put together over the attempts."""

    def __init__(self, schema: Any = None, repair: Rules = False) -> None:
        # What it may be: one text, unless an attempt broke off before that was certain.
        self._candidates = [JoinedText(schema, repair)]
        # Of this attempt, if something came before it.
        self.joiner: Joiner | None = None

    @property
    def joined(self) -> JoinedText:
        """The text so far."""
        way = None if self.joiner is None else self.joiner.way
        return self._candidates[0] if way is None else way.joined

    def begin(self, dropped: str | None = None) -> None:
        """Another attempt goes on with it; `dropped` is that of `Joiner`."""
        is_blank = not self.joined.text.strip()
        self.joiner = None if is_blank else Joiner(self._candidates, dropped=dropped)

    def feed(self, piece: str) -> str:
        """The text that can be shown now."""
        if self.joiner is not None:
            self.joiner.feed(piece)
            return self.take()
        self.joined.add_talk(self.joined.add(piece))
        return self.joined.take()

    def flush(self) -> str:
        """The text at the end of an attempt that is complete."""
        if self.joiner is None:
            return ""
        self.joiner.flush()
        return self.take()

    @property
    def failed(self) -> bool:
        """True if what came does not join, or breaks the schema."""
        joiner = self.joiner
        if joiner is None:
            return self.joined.violation is not None
        return joiner.failed or (joiner.way is not None and joiner.way.dead)

    @property
    def unclear(self) -> bool:
        """True if this attempt has brought something that did not join."""
        return self.joiner is not None and self.joiner.way is None and self.joiner.begun

    @property
    def complete(self) -> bool:
        """True if it is a complete value."""
        return not self.unclear and len(self._candidates) == 1 and self.joined.complete

    def end(self, *, cut: bool) -> InvalidSchema | None:
        """The attempt is over: keep what is good of it; returns the violation that ended it."""
        joiner, self.joiner = self.joiner, None
        if joiner is not None and (cut or joiner.way is not None):
            self._candidates = joiner.candidates()
        violation = self.joined.violation
        self._candidates = [one.good() for one in self._candidates]
        return violation

    def take(self) -> str:
        """What can be shown now and could not before."""
        if self.joiner is not None and self.joiner.way is None:
            return ""
        return self.joined.take() if len(self._candidates) == 1 else ""


class AnswerCall:
    """A call of the answer."""

    def __init__(self, id: str, call: LiveCall, track: Track) -> None:
        self.id = id
        self.index = 0
        self.name = call.name or ""
        self.hosted = call.hosted
        self.free = call.encoding == "text"
        self.track = track
        self.complete = False
        self.told = False
        # True while it may be one that was complete before, and comes again.
        self.waits = False

    @property
    def args(self) -> Any:
        """The arguments as far as they are known."""
        joined = self.track.joined
        return joined.text if self.free else joined.document().value


class Session:
    """The answer as it is put together, and the attempt at hand."""

    def __init__(
        self, provider: Provider, attempts: int, budget: int | None, *, restarts: bool = False
    ) -> None:
        self._provider = provider
        self._attempts = attempts
        self._budget = budget
        self._restarts = restarts
        # True while readers have been told that the answer begins again, and it has not.
        self.restarted = False
        # What the readers of the answer ask for.
        self.schema: Any = None
        self.repair: Rules = False
        self.choice = 0
        self.tool: Tool = None
        self.text = Track()
        self.calls: list[AnswerCall] = []
        # True if a call has followed the text; if the text at hand has followed a call.
        self._text_ended = self._is_later = False
        self.asked = 0
        self.in_vain = 0
        self._tokens = 0
        self.usage: dict[str, Any] = {}
        # How the last attempt broke off, with the error that ended it.
        self.reason: str | None = None
        self.error: Exception | None = None
        self.over = False
        # True if the source of this attempt, or of the one before it, is the answer's text.
        self._is_text = self.was_text = False

    def take_up(self, before: list[Event]) -> list[Event]:
        """Go on with what another process has yielded; the events that it has not."""
        if not before:
            return []
        self.begin()
        # They are events of our own, of whatever provider the rest is.
        self._reading = ToolCalls("jsonrill")
        for event in before:
            [*self.feed(event)]
            if broke := event.get("break"):
                self.asked, self.reason = self.asked + 1, broke["reason"]
                if self.reason == CONTRADICTION:
                    self._restart()
        for track in (self.text, *(call.track for call in self.calls)):
            track.joined.mark_shown()
        if self._ending.of(self.choice) is not None:
            self.over = True
            return []
        begun, self.restarted = bool(before[-1].get("begins")), False
        if not begun and not before[-1].get("break"):
            return [*self.end()]
        # The break has been told, and nothing came behind it.
        self.asked -= 1
        self._settle(CutShort("lost"))
        self._count()
        return [] if begun or self.reason != CONTRADICTION else [self._event(begins=True)]

    # ---- an attempt ----

    def begin(self, dropped: str | None = None) -> None:
        """Another attempt begins."""
        if not self.asked:
            self.text = self._new_text()
        self.restarted = False
        self.asked += 1
        self.text.begin(dropped)
        self._before = self._size
        self._reading = ToolCalls(self._provider)
        self._ending = Ending()
        self._counts: dict[str, Any] = {}
        self._characters = 0
        self._of_number: dict[int, AnswerCall] = {}
        # Text that goes on with what followed the calls, unless these come again behind it.
        self._held = ""
        self.was_text, self._is_text = self._is_text, False
        self._has_begun = self.stalled = False
        self._detail: str | None = None

    @property
    def provider(self) -> str | None:
        """The provider of this attempt, as far as it is known."""
        return self._reading.reader.provider if self.asked else None

    @property
    def stopped(self) -> bool:
        """True if no more of this attempt is wanted."""
        tracks = [self.text, *(call.track for call in self._of_number.values())]
        return any(track.failed for track in tracks)

    def feed_text(self, piece: str) -> Iterator[Event]:
        """The events that a piece of the answer's text makes."""
        self._is_text = True
        self._characters += len(piece)
        yield from self._text(piece)

    def feed(self, event: Any) -> Iterator[Event]:
        """The events that an event of a provider makes."""
        self._has_begun = True
        statements = of_choice(self._reading.reader.feed(event), self.choice)
        self._ending.feed(statements)
        for one in statements:
            if isinstance(one, Text):
                self._characters += len(one.text)
                yield from self._text(one.text)
            elif isinstance(one, Reasoning):
                yield self._event(reasoning=one.text)
            elif isinstance(one, Usage):
                self._counts.update(one.counts)
            else:
                if isinstance(one, Finish) and one.reason == "error":
                    self._detail = self._detail or one.detail or "the provider reported an error"
                for update in self._reading.read([one]):
                    yield from self._call(update)

    def _event(self, **fields: Any) -> Event:
        return {"kind": ANSWER, **({"choice": self.choice} if self.choice else {}), **fields}

    def _text(self, piece: str) -> Iterator[Event]:
        if self._text_ended and self._of_number:
            self.text, self._text_ended, self._is_later = self._new_text(), False, True
        elif self._is_later and self.text.joiner is not None and not self._of_number:
            self._held += piece
            return
        # What comes again before a call is known.
        if not self._text_ended and (text := self.text.feed(piece)):
            yield self._event(text=text)

    def _end_text(self) -> Iterator[Event]:
        """The text at hand is complete: a call follows it, or nothing."""
        if not self._text_ended and (text := self.text.flush()):
            yield self._event(text=text)

    # ---- calls ----

    def _call(self, update: ToolCallUpdate) -> Iterator[Event]:
        live = update.call
        if update.is_result:
            field = "error" if live.result_is_error else "result"
            own = self._of_number.get(live.number)
            yield self._event(id=own.id if own else live.id, **{field: live.result})
            return
        call = self._of_number.get(live.number)
        piece = update.function_args or ""
        if call is None:
            if live.name is None and live.open:
                return
            if not self._of_number:
                self._held = ""
                yield from () if self._is_later else self._end_text()
            call = self._of_number[live.number] = self._matched(live)
            piece = live.raw
        if live.is_placeholder and live.open:
            return
        self._characters += len(piece)
        yield from self._grow(call, call.track.feed(piece) if piece else "")
        if not live.open:
            yield from self._close(call, live)

    def _matched(self, live: LiveCall) -> AnswerCall:
        """The call that goes on, or a new one.

        One that may be another that is complete is held back until that is known.
        """
        same = self._others(live.name or "")
        is_new = not any(call.complete for call in same)
        if is_new and same:
            same[0].track.begin()
            return same[0]
        wanted = self.tool is True or self.tool == live.name
        track = Track(self.schema if wanted else None, self.repair)
        ids = {call.id for call in self.calls}
        id = live.id if live.id not in ids else f"{live.id}-{self.asked}"
        call = AnswerCall(id, live, track)
        call.waits = not is_new
        if is_new:
            self._add(call)
        return call

    def _others(self, name: str) -> list[AnswerCall]:
        """The calls of a tool that have not come in this attempt."""
        came = [*self._of_number.values()]
        return [call for call in self.calls if call.name == name and call not in came]

    def _add(self, call: AnswerCall) -> None:
        call.index = len(self.calls)
        self.calls.append(call)
        self._text_ended = True

    def _grow(self, call: AnswerCall, text: str) -> Iterator[Event]:
        if call.waits or call.complete or (call.told and not text):
            return
        fields: dict[str, Any] = {"id": call.id, "index": call.index}
        if not call.told:
            fields["name"] = call.name
            fields |= {"hosted": True} if call.hosted else {}
            fields |= {"encoding": "text"} if call.free else {}
        call.told = True
        yield self._event(call={**fields, **({"text": text} if text else {})})

    def _close(self, call: AnswerCall, live: LiveCall) -> Iterator[Event]:
        """The provider has ended a call, or its response."""
        if call.waits:
            yield from self._decide(call, live.number, live.status == "complete")
            return
        begun_here = call.track.joiner is None
        yield from self._grow(call, call.track.flush())
        is_complete = live.status == "complete" if begun_here else call.track.complete
        if is_complete and not call.complete:
            yield from self._complete(call)

    def _decide(self, call: AnswerCall, number: int, complete: bool) -> Iterator[Event]:
        """A call that was held back is one that was complete, goes on with another, or is new."""
        others = self._others(call.name)
        args = dumps(call.args)
        known = next((it for it in others if it.complete and dumps(it.args) == args), None)
        goes_on = next((it for it in others if not it.complete), None)
        text = call.track.joined.text
        if complete and known is not None:
            self._of_number[number] = known
        elif goes_on is not None:
            self._of_number[number] = goes_on
            goes_on.track.begin()
            yield from self._grow(goes_on, goes_on.track.feed(text) + goes_on.track.flush())
            if goes_on.track.complete:
                yield from self._complete(goes_on)
        elif complete:
            call.waits = False
            self._add(call)
            yield from self._grow(call, text)
            yield from self._complete(call)

    def _complete(self, call: AnswerCall) -> Iterator[Event]:
        call.complete = True
        yield self._event(call={"id": call.id, "index": call.index, "complete": True})

    # ---- the end of an attempt ----

    @property
    def _size(self) -> tuple[int, int, int]:
        sizes = [call.track.joined.size for call in self.calls]
        return self.text.joined.size, sum(sizes), sum(call.complete for call in self.calls)

    def end(self, error: Exception | None = None, *, done: bool = False) -> Iterator[Event]:
        """The events at the end of an attempt, which `error` ended if it is given.

        `done`: the stream said that it is at its end, such as with `[DONE]`.
        """
        cut = self._cut(error, done)
        if text := self.text.feed(self._held) if self._held else "":
            yield self._event(text=text)
        if cut is None or cut.reason in _FINAL:
            yield from self._end_text()
        for update in self._reading.flush():
            yield from self._call(update)
        if cut is None:
            # A rest that is not JSON by itself is a call in error, which nothing closes.
            for number, call in [*self._of_number.items()]:
                if call.waits:
                    yield from self._decide(call, number, False)
                elif call.track.joiner is not None:
                    yield from self._grow(call, call.track.flush())
        was_stopped = self.stopped
        unclear, contradiction = self._settle(cut)
        yield from self._rest()
        self._count()
        # It is not the connection that ended what does not join.
        reason = self._reason(None if unclear and was_stopped else cut, unclear)
        if self.stalled and reason == "lost":
            reason = "stalled"
        got_on = self._size != self._before
        self.in_vain = 0 if got_on else self.in_vain + 1
        if reason is None or reason in _FINAL or not self._may_ask:
            yield from self._finish(cut, reason, error)
            return
        self.reason, self.error = reason, error or self.violation
        told: dict[str, Any] = {"attempt": self.asked}
        if contradiction is not None and not got_on:
            known = (contradiction.path, contradiction.written, contradiction.now)
            self.reason, self.error = CONTRADICTION, RevisionError(*known)
            if not self._restarts:
                raise self.error
            self._restart()
            told |= {"path": [*known[0]], "written": known[1], "now": known[2]}
        yield self._event(**{"break": {"reason": self.reason, **told}})
        if self.restarted:
            yield self._event(begins=True)

    def _new_text(self) -> Track:
        return Track(None if self.tool else self.schema, self.repair)

    def _restart(self) -> None:
        """Forget what is not complete; calls that are have been told, and may have been run."""
        self.restarted = True
        self._ending = Ending()
        self.text = self._new_text()
        self.calls = [call for call in self.calls if call.complete]
        self._text_ended, self._is_later = bool(self.calls), False

    def _cut(self, error: Exception | None, done: bool) -> CutShort | None:
        if error is not None or self._detail is not None:
            return CutShort("lost", self._detail)
        if self._is_text:
            return None
        if not self._has_begun:
            return CutShort("lost")
        ends = self._reading.reader.ends and not done
        return self._ending.cut(self.choice, ends=ends)

    def _settle(self, cut: CutShort | None) -> tuple[bool, Any]:
        """End the tracks; returns whether one of them did not join, and what contradicts it."""
        self.violation: InvalidSchema | None = None
        unclear, contradiction = False, None
        for track in (self.text, *(call.track for call in self._of_number.values())):
            unclear = unclear or track.unclear
            if track.joiner is not None:
                contradiction = contradiction or track.joiner.contradiction
            self.violation = track.end(cut=cut is not None) or self.violation
        return unclear, contradiction

    def _rest(self) -> Iterator[Event]:
        """What can be shown now that an attempt is over."""
        if not self._text_ended and (text := self.text.take()):
            yield self._event(text=text)
        for call in self._of_number.values():
            yield from self._grow(call, call.track.take())
            if call.track.complete and not call.complete and not call.waits:
                yield from self._complete(call)

    def _reason(self, cut: CutShort | None, unclear: bool) -> str | None:
        """Why the answer is not complete; None if it is."""
        if self.violation is not None:
            return "violation"
        if cut is not None and cut.reason in _FINAL:
            return cut.reason
        if any(not call.complete for call in self.calls):
            return cut.reason if cut is not None else "unclear"
        text = self.text.joined
        is_json = text.begin is not None and not text.plain
        if not self.calls and is_json:
            # A number that was cut may have more digits.
            is_open = text.outline.word and (cut is not None or unclear)
            if self.text.complete and not is_open:
                return None
            if cut is None:
                lenient = bool(self.repair) and self.asked == 1
                return None if lenient else "unclear" if unclear else "ended"
        return None if cut is None else cut.reason

    @property
    def _may_ask(self) -> bool:
        """True if another attempt is allowed."""
        enough = self.in_vain >= self._attempts or self.asked >= _MOST * self._attempts
        return not enough and (self._budget is None or self._tokens < self._budget)

    def _finish(
        self, cut: CutShort | None, reason: str | None, error: Exception | None
    ) -> Iterator[Event]:
        """The last events, or the error of the last attempt."""
        self.over = True
        if self.usage:
            yield self._event(usage=self.usage)
        if reason is not None and error is not None:
            raise error
        if self.violation is not None:
            raise self.violation
        if reason is None:
            yield self._event(finish="calls" if self.calls else "complete")
            return
        known = cut if cut is not None else CutShort("lost", _MEANINGS.get(reason))
        detail = {} if known.detail is None else {"detail": known.detail}
        yield self._event(finish=known.reason, **detail)

    def _count(self) -> None:
        """Add the token counts of the attempt."""
        _add_counts(self.usage, self._counts)
        counted = OUTPUT.of(self._counts)
        self._tokens += self._characters // _TOKEN if counted is None else counted


# Ends that providers have no word for.
_MEANINGS: Final = {
    "ended": "the answer ended before its value did",
    "unclear": "it is not certain how the last answer goes on with what came before",
}


def _add_counts(total: dict[str, Any], counts: dict[str, Any]) -> None:
    for name, count in counts.items():
        if isinstance(count, dict):
            inner = total.setdefault(name, {})
            if isinstance(inner, dict):
                _add_counts(inner, count)
        elif type(count) in (int, float) and type(total.get(name, 0)) in (int, float):
            total[name] = total.get(name, 0) + count
        else:
            total[name] = count
