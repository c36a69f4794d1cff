"""The builders of `jsonrill.testing.streams`, and three calls for them."""

from __future__ import annotations

import random
from typing import Any

from jsonrill.testing.streams import (
    BUILDERS as BUILDERS,
)
from jsonrill.testing.streams import (
    INTERLEAVING as INTERLEAVING,
)
from jsonrill.testing.streams import (
    Event as Event,
)
from jsonrill.testing.streams import (
    Made as Made,
)
from jsonrill.testing.streams import (
    anthropic as anthropic,
)
from jsonrill.testing.streams import (
    candidate as candidate,
)
from jsonrill.testing.streams import (
    claude_code as claude_code,
)
from jsonrill.testing.streams import (
    gemini_live as gemini_live,
)
from jsonrill.testing.streams import (
    in_a_row as in_a_row,
)
from jsonrill.testing.streams import (
    ollama as ollama,
)
from jsonrill.testing.streams import (
    openai_chat as openai_chat,
)
from jsonrill.testing.streams import (
    openai_responses as openai_responses,
)
from jsonrill.testing.streams import (
    partial_args as partial_args,
)
from jsonrill.testing.streams import (
    shuffled as shuffled,
)

WEATHER = Made("call_a", "get_weather", '{"city":"S\\u00e3o Paulo","days":3}')
SEARCH = Made("call_b", "search", '{"q":"a\\nb","tags":["x",{"y":null},[],-0.5e1]}')
PING = Made("call_c", "ping", "{}")
TWO = [WEATHER, SEARCH]
THREE = [WEATHER, SEARCH, PING]


# The page of `providers/` that reads a builder's events.
PAGE_OF = {
    "gemini_interactions": "gemini",
    "gemini_whole": "gemini",
    "gemini_partial": "gemini",
    "mistral_chat": "mistral",
    "mistral_conversations": "mistral",
}


STREAMS = {name: build(THREE, shuffled(THREE, 5)) for name, build in BUILDERS.items()}


def mutated(event: Any, chance: random.Random, junk: Any) -> Any:
    """One place of an event replaced, removed or put under another key."""
    if isinstance(event, dict) and event and chance.random() < 0.8:
        key = chance.choice(sorted(event))
        copied = dict(event)
        match chance.randint(0, 5):
            case 0:
                del copied[key]
            case 1:
                copied[key] = junk
            case _:
                copied[key] = mutated(event[key], chance, junk)
        return copied
    if isinstance(event, list) and event and chance.random() < 0.8:
        at = chance.randrange(len(event))
        return [*event[:at], mutated(event[at], chance, junk), *event[at + 1 :]]
    return junk
