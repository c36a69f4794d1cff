"""Cohere: its real client (version 2 of the API) against a scripted upstream."""

from __future__ import annotations

import json

import cohere

from frameworks import BOTH, calls_of, text_of
from jsonrill.testing import Script, Upstream
from support import provider_streams
from support.provider_streams import ANSWERS, Made, in_a_row

CALLS = [Made(f"{name}_1", name, json.dumps(args)) for name, args, _ in BOTH]


def test_chat() -> None:
    answer = ANSWERS["cohere-complete"]
    text_script = Script.events(answer.events)
    called = Script.events(provider_streams.cohere(CALLS, in_a_row(CALLS)))
    with Upstream(text_script, called) as upstream:
        client = cohere.ClientV2("none", base_url=upstream.url)
        message = cohere.UserChatMessageV2(content="hi")
        assert text_of(client.chat_stream(model="any", messages=[message])) == answer.text
        assert calls_of(client.chat_stream(model="any", messages=[message])) == BOTH
