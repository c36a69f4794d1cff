"""The provider that keeps responses: each request has its own, whoever asks beside it."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from jsonrill.testing import Exchange, FakeAnswer, Provider, Script


def request(method: str, path: str, **body: Any) -> Exchange:
    return Exchange(method, f"/v1/responses{path}", {}, json.dumps(body).encode())


def begin(provider: Provider, model: str) -> str:
    """The id of a new response."""
    script = provider(request("POST", "", model=model, input="hi", background=True))
    assert isinstance(script, Script)
    [body] = script.steps
    assert isinstance(body, bytes)
    return str(json.loads(body)["id"])


def test_responses_that_begin_at_once_are_told_apart() -> None:
    at_once = threading.Barrier(4)

    class Slow(FakeAnswer):
        def script(self, *arguments: Any, **options: Any) -> Script:
            at_once.wait(30)
            return super().script(*arguments, **options)

    provider = Provider(lambda model: Slow(model))
    with ThreadPoolExecutor(4) as threads:
        ids = [*threads.map(lambda model: begin(provider, model), "abcd")]
    assert len({*ids}) == len(provider.responses) == 4


def test_the_id_of_a_deleted_response_is_not_given_again() -> None:
    provider = Provider(FakeAnswer)
    first, second = begin(provider, "a"), begin(provider, "b")
    provider(request("DELETE", f"/{first}"))
    assert begin(provider, "c") not in (first, second)
