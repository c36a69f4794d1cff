"""What is known of an answer that broke off: for the program that asks for the rest."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ..build.document import Document
from ..errors import JsonrillError
from ..paths import Path
from .missing import missing_paths, missing_schema, schema_of
from .requests import messages_for

if TYPE_CHECKING:
    from .session import Session


class Called(NamedTuple):
    """A call that was complete before the break."""

    id: str
    name: str
    args: Any


class SoFar:
    """An answer so far. It does not change when the next one comes.

    `text` is what has arrived: of the call that broke off (`tool` is its name) its arguments, else
    the answer's text. `reason` is why it broke off: `lost`, `stalled`, `length`, `ended` (the
    answer stopped before its value did), `violation` (of the schema), `contradiction` (it begins
    again), or `unclear` (it was not certain how the last answer joins). `error` is what was raised,
    if anything was. `attempts` is how often the program has asked, `usage` the token counts of all
    attempts, `calls` are the calls that need not be asked for again.
    """

    def __init__(self, session: Session) -> None:
        last = next((call for call in session.calls if not call.complete), None)
        joined = (session.text if last is None else last.track).joined
        self.tool = None if last is None else last.name
        self.text = joined.text
        self.reason = session.reason or "lost"
        self.error = session.error
        self.attempts = session.asked
        self.usage = {**session.usage}
        self.calls = [Called(it.id, it.name, it.args) for it in session.calls if it.complete]
        self._joined = joined
        wanted = session.tool is None if last is None else session.tool in (True, last.name)
        self._schema = session.schema if wanted else None
        # White space that a request left out at the end of a text to go on with.
        self._dropped: str | None = None

    @cached_property
    def _document(self) -> Document:
        return self._joined.document()

    @property
    def value(self) -> Any:
        """The value so far; None if there is none, or the text is not JSON."""
        return self._document.value

    @property
    def open_path(self) -> Path | None:
        """The path of the string or container that was cut off."""
        return self._document.open_path

    @cached_property
    def complete(self) -> list[Path]:
        """The paths of what is complete; not those inside of it."""
        path, value = self.open_path, self.value
        if path is None:
            return [] if not self._document.started else [()]
        complete: list[Path] = []
        for depth in range(len(path) + 1):
            if isinstance(value, str):
                break
            steps = value if isinstance(value, dict) else range(len(value))
            child = path[depth] if depth < len(path) else None
            complete += [(*path[:depth], step) for step in steps if step != child]
            value = None if child is None else value[child]
        return complete

    @cached_property
    def missing(self) -> list[Path]:
        """The paths that the schema still asks for; none without a schema."""
        return missing_paths(schema_of(self._schema), self.value, self.open_path)

    def missing_schema(self) -> dict[str, Any] | None:
        """The schema of an answer that has only what is missing; None if there is no schema.

        What was cut off is among it, from its beginning.
        """
        schema = schema_of(self._schema)
        if schema is None:
            return None
        value, path = self.value, self.open_path
        known = value if isinstance(value, dict) else {}
        return missing_schema(schema, [key for key in known if not path or key != path[0]])

    @property
    def feedback(self) -> str | None:
        """What to tell the model of the violation that ended its answer; None if there is none."""
        is_violation = self.reason == "violation" and isinstance(self.error, JsonrillError)
        return self.error.feedback() if is_violation else None  # type: ignore[union-attr]

    def messages(
        self, prompt: str | list[Any], provider: str, *, prefill: bool = True
    ) -> list[Any]:
        """The messages of a request for the rest, in the form of a provider.

        `prompt` is the text or the messages of the first request. The provider is `openai_chat`
        (or `openai`), `openai_responses` (`responses`), `anthropic`, `gemini`, `mistral`, `ollama`
        or `bedrock`. Where it can go on with a text that is given to it, it gets that, unless
        `prefill` is False; else it is asked to continue after the last words. If it was not certain
        how that joins, it is asked for what is missing by the schema, or for all of it again.
        """
        messages, self._dropped = messages_for(provider, prompt, self, prefill)
        return messages

    def __repr__(self) -> str:
        shown = self.text if len(self.text) <= 60 else f"…{self.text[-60:]}"
        return f"<SoFar {self.reason} after {self.attempts} attempts: {shown!r}>"
