"""The names that providers have for token counts."""

from __future__ import annotations

from typing import Any, Final, NamedTuple


class Counts(NamedTuple):
    """Names of a count: of which the first counts, and those that it does not include."""

    names: tuple[str, ...]
    beside: tuple[str, ...]

    def of(self, usage: dict[str, Any]) -> int | None:
        """The number in these token counts; None if it is not there."""
        known = {name: it for name, it in usage.items() if type(it) is int}
        first = next((known[name] for name in self.names if name in known), None)
        return None if first is None else first + sum(known.get(it, 0) for it in self.beside)


INPUT: Final = Counts(
    ("prompt_tokens", "input_tokens", "promptTokenCount", "prompt_token_count", "inputTokens",
     "prompt_eval_count"),
    ("cache_read_input_tokens", "cache_creation_input_tokens", "cacheReadInputTokens",
     "cacheWriteInputTokens"),
)  # fmt: skip
OUTPUT: Final = Counts(
    ("completion_tokens", "output_tokens", "candidatesTokenCount", "candidates_token_count",
     "outputTokens", "eval_count"),
    ("thoughtsTokenCount", "thoughts_token_count"),
)  # fmt: skip
