"""/v1/responses with OpenAI's own client: streamed, in the background, retrieved, cancelled."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from jsonrill.testing import Call, Exchange, FakeAnswer, Provider, Script, Upstream
from support import SLACK, few, hard
from support.processes import Server

WORDS = "".join(f"{number:3} " for number in range(60))
MODELS: dict[str, FakeAnswer | Script] = {
    "text": FakeAnswer("Hello wörld", reasoning="Hm. A greeting.", pace=0.002),
    "calls": FakeAnswer("So:", calls=[Call("a", {"x": 1}), Call("b", {"y": "z" * 20})], pace=0.002),
    "words": FakeAnswer(WORDS, pace=0.02),
    "slowly": FakeAnswer(WORDS, pace=0.25),
    "steady": FakeAnswer(WORDS, pace=0.08),
    "endless": FakeAnswer(WORDS * 100, pace=0.02),
    "length": FakeAnswer(WORDS, ending="length", after=5, pace=0),
    "limited": FakeAnswer(status=429, headers={"retry-after": "7"}),
}
TOKENS = {"anne": "anne-0123456789abcdef", "bob": "bob-0123456789abcdef"}


class Relay:
    """A relay with tokens and a store that outlives it, before a provider."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        resumes = settings.pop("resumes", True)
        self.provider = Provider(MODELS, resumes=resumes)
        self.upstream = Upstream(self.provider)
        tokens = ",".join(f"{name}:{token}" for name, token in TOKENS.items())
        defaults = {"tokens": tokens, "store": f"sqlite:///{folder}/relay.db", "heartbeat": 0.2}
        url = f"{self.upstream.url}/v1"
        self.server = Server(folder, upstream=url, upstream_key="secret-key", **defaults | settings)

    def __enter__(self) -> Relay:
        self.upstream.__enter__()
        self.server.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.server.__exit__()
        self.upstream.__exit__()

    def client(self, name: str = "anne") -> openai.OpenAI:
        base = f"{self.server.url}/v1"
        return openai.OpenAI(base_url=base, api_key=TOKENS[name], max_retries=0, timeout=60)

    def asked(self, path: str) -> list[Exchange]:
        """The requests of the upstream whose path has this in it."""
        return [it for it in self.upstream.exchanges if path in it.target]


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Relay]:
    with Relay(tmp_path_factory.mktemp("relay"), owner_streams=1000) as it:
        yield it
        assert "Traceback" not in it.server.log()


@pytest.fixture
def client(relay: Relay) -> Iterator[openai.OpenAI]:
    with relay.client() as sdk:
        yield sdk


def text_of(events: list[Any]) -> str:
    return "".join(it.delta for it in events if it.type == "response.output_text.delta")


def until(condition: Any, seconds: float = 10) -> None:
    end = time.monotonic() + seconds * SLACK
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_events_are_numbered_and_complete(client: openai.OpenAI) -> None:
    events = [*client.responses.create(model="text", input="hi", stream=True)]
    assert [it.sequence_number for it in events] == [*range(len(events))]
    assert text_of(events) == "Hello wörld"
    last: Any = events[-1]
    assert last.type == "response.completed" and last.response.output_text == "Hello wörld"


def test_the_helper_of_the_client_reads_the_stream(client: openai.OpenAI) -> None:
    with client.responses.stream(model="calls", input="hi") as stream:
        response = stream.get_final_response()
    assert [item.type for item in response.output] == ["message", "function_call", "function_call"]


def test_an_answer_at_once_can_be_retrieved(client: openai.OpenAI, relay: Relay) -> None:
    response = client.responses.create(model="text", input="hi")
    assert response.output_text == "Hello wörld"
    seen = relay.upstream.exchanges[-1]
    assert seen.headers["authorization"] == "Bearer secret-key" and "stream" not in seen.json
    again = client.responses.retrieve(response.id)
    assert again.output == response.output and again.status == "completed"
    [event] = client.responses.retrieve(response.id, stream=True)
    assert event.type == "response.completed"


def test_what_shall_not_be_stored_is_not_kept(client: openai.OpenAI) -> None:
    response = client.responses.create(model="text", input="hi", store=False)
    assert response.output_text == "Hello wörld"
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(response.id)


def test_a_streamed_response_can_be_resumed_after_each_event(client: openai.OpenAI) -> None:
    events = [*client.responses.create(model="calls", input="hi", stream=True)]
    first: Any = events[0]
    for number in range(len(events)):
        rest = [*client.responses.retrieve(first.response.id, stream=True, starting_after=number)]
        assert rest == events[number + 1 :]
    with pytest.raises(openai.BadRequestError, match=f"which is {len(events) - 1}"):
        client.responses.retrieve(first.response.id, stream=True, starting_after=len(events))


@hard
def test_a_background_response_grows(client: openai.OpenAI) -> None:
    response = client.responses.create(model="slowly", input="hi", background=True)
    assert response.status in ("queued", "in_progress") and WORDS.startswith(response.output_text)
    seen = ""
    while (now := client.responses.retrieve(response.id)).status == "in_progress":
        assert now.output_text.startswith(seen)
        seen = now.output_text
        time.sleep(0.05)
    assert 0 < len(seen) and now.status == "completed" and now.output_text == WORDS


def test_a_background_response_is_streamed_to_several_readers(client: openai.OpenAI) -> None:
    stream = client.responses.create(model="words", input="hi", background=True, stream=True)
    events: list[Any] = [next(stream), next(stream), next(stream)]
    stream.close()
    id = events[0].response.id
    rest = [*client.responses.retrieve(id, stream=True, starting_after=2)]
    assert [it.sequence_number for it in (*events, *rest)] == [*range(3 + len(rest))]
    assert text_of([*events, *rest]) == WORDS
    with client.responses.stream(response_id=id, starting_after=4) as helper:
        assert helper.get_final_response().output_text == WORDS


def test_a_response_that_was_stopped_is_incomplete(client: openai.OpenAI) -> None:
    [*_, last] = client.responses.create(model="length", input="hi", stream=True)
    assert last.type == "response.incomplete"
    response = client.responses.retrieve(last.response.id)
    assert response.status == "incomplete" and response.output_text == WORDS[:20]


def test_the_upstream_gets_its_own_id_of_the_response_before(
    client: openai.OpenAI, relay: Relay
) -> None:
    first = client.responses.create(model="text", input="hi")
    client.responses.create(model="text", input="and?", previous_response_id=first.id)
    sent = relay.upstream.exchanges[-1].json["previous_response_id"]
    assert first.id.startswith(f"{sent}.") and sent == "resp_1"


@pytest.mark.parametrize("stream", [False, True])
def test_what_may_be_of_another_owner_is_not_asked_for(relay: Relay, stream: bool) -> None:
    """The upstream knows one key for all: it would continue anybody's response for anybody."""
    with relay.client("anne") as anne, relay.client("bob") as bob:
        _check_that_bob_cannot_refer(relay, anne, bob, stream)


def _check_that_bob_cannot_refer(
    relay: Relay, anne: openai.OpenAI, bob: openai.OpenAI, stream: bool
) -> None:
    hers = anne.responses.create(model="text", input="a secret").id
    his = bob.responses.create(model="text", input="hi").id
    theirs, run = hers.partition(".")[0], his.rpartition(".")[2]
    before = len(relay.upstream.exchanges)
    for id in (hers, theirs, f"resp_hers.{run}", f"{hers}.{run}", "resp_7", "resp_1.nothing"):
        with pytest.raises(openai.NotFoundError):
            bob.responses.create(
                model="text", input="what?", previous_response_id=id, stream=stream
            )
    references: list[dict[str, Any]] = [
        {"conversation": "conv_1", "input": "what?"},
        {"conversation": {"id": "conv_1"}, "input": "what?"},
        {"input": [{"type": "item_reference", "id": "msg_1"}]},
    ]
    for reference in references:
        with pytest.raises(openai.BadRequestError):
            bob.responses.create(model="text", stream=stream, **reference)
    assert len(relay.upstream.exchanges) == before
    answer: Any = bob.responses.create(
        model="text", input="and?", previous_response_id=his, stream=stream
    )
    assert [*answer] if stream else answer.output_text


def test_a_single_owner_refers_to_whatever_the_upstream_has(tmp_path: Path) -> None:
    anne = TOKENS["anne"]
    tokens = f"anne:{anne},anne:{anne[::-1]}"
    with Relay(tmp_path, tokens=tokens) as relay, relay.client("anne") as client:
        client.responses.create(model="text", input="and?", previous_response_id="resp_theirs")
        assert relay.upstream.exchanges[-1].json["previous_response_id"] == "resp_theirs"
        client.responses.create(model="text", input="and?", conversation="conv_1")
        assert relay.upstream.exchanges[-1].json["conversation"] == "conv_1"


@few(1)
@pytest.mark.parametrize("background", [True, False])
def test_cancel_stops_the_upstream(client: openai.OpenAI, relay: Relay, background: bool) -> None:
    stream = client.responses.create(
        model="endless", input="hi", background=background, stream=True
    )
    first: Any = next(stream)
    exchange = relay.upstream.exchanges[-1]
    response = client.responses.cancel(first.response.id)
    assert response.status == "cancelled"
    with pytest.raises(openai.APIError) as caught:
        for _ in stream:
            pass
    assert caught.value.code == "CANCELLED"
    assert exchange.left.wait(5 * SLACK) or exchange.ended.is_set()
    if background:
        assert relay.provider.responses[first.response.id.partition(".")[0]].cancelled.is_set()
    again = client.responses.cancel(first.response.id)
    assert again.status == "cancelled" and again.output == response.output
    assert client.responses.retrieve(first.response.id).status == "cancelled"


def test_cancelling_the_stream_cancels_the_response_at_the_upstream(
    client: openai.OpenAI, relay: Relay
) -> None:
    response = client.responses.create(model="endless", input="hi", background=True)
    own, _, stream = response.id.partition(".")
    headers = {"authorization": f"Bearer {TOKENS['anne']}"}
    url = f"{relay.server.url}/v1/streams/{stream}/cancel"
    assert httpx2.post(url, headers=headers, trust_env=False).status_code == 200
    assert relay.provider.responses[own].cancelled.wait(5 * SLACK)


@pytest.mark.parametrize("how", ["streamed", "complete", "background", "growing"])
def test_a_deleted_response_is_gone_here_and_at_the_upstream(
    client: openai.OpenAI, relay: Relay, how: str
) -> None:
    background = how in ("background", "growing")
    model = "endless" if how == "growing" else "text"
    ask = {"model": model, "input": "hi", "background": background, "stream": how == "streamed"}
    response: Any = client.responses.create(**ask)  # type: ignore[call-overload]
    if how == "streamed":
        response = list(response)[-1].response
    own = response.id.partition(".")[0]
    if how == "background":
        until(lambda: client.responses.retrieve(response.id).status == "completed")
    client.responses.delete(response.id)
    assert "DELETE" in [it.method for it in relay.asked(f"/responses/{own}")]
    assert own not in relay.provider.responses
    for ask_again in (client.responses.retrieve, client.responses.cancel, client.responses.delete):
        with pytest.raises(openai.NotFoundError):
            ask_again(response.id)


@pytest.mark.parametrize("status", [401, 409, 500])
def test_a_response_stays_if_the_upstream_does_not_delete_it(
    client: openai.OpenAI, relay: Relay, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    def refuse(status: int) -> None:
        refusal = Script.json({"error": {"message": "no", "type": "refused"}}, status)
        monkeypatch.setattr(relay.provider, "_kept", lambda *_: refusal)

    response = client.responses.create(model="text", input="hi")
    refuse(status)
    with pytest.raises(openai.InternalServerError) as caught:
        client.responses.delete(response.id)
    assert caught.value.status_code == 502 and str(status) in caught.value.message
    assert client.responses.retrieve(response.id).output_text == "Hello wörld"
    refuse(405)  # an upstream that keeps no responses
    client.responses.delete(response.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(response.id)


def test_only_its_owner_deletes_a_response(client: openai.OpenAI, relay: Relay) -> None:
    response = client.responses.create(model="text", input="hi")
    with relay.client("bob") as other, pytest.raises(openai.NotFoundError):
        other.responses.delete(response.id)
    assert client.responses.retrieve(response.id).status == "completed"


@pytest.mark.parametrize("background", [True, False])
def test_a_response_says_whether_it_is_in_the_background(
    client: openai.OpenAI, background: bool
) -> None:
    response = client.responses.create(model="text", input="hi", background=background)
    assert response.background is background
    assert client.responses.retrieve(response.id).background is background


def test_a_complete_response_is_not_cancelled(client: openai.OpenAI) -> None:
    response = client.responses.create(model="text", input="hi")
    assert client.responses.cancel(response.id).status == "completed"


def test_a_response_belongs_to_its_owner(client: openai.OpenAI, relay: Relay) -> None:
    response = client.responses.create(model="endless", input="hi", background=True)
    with relay.client("bob") as other:
        for ask in (other.responses.retrieve, other.responses.cancel):
            with pytest.raises(openai.NotFoundError):
                ask(response.id)
        with pytest.raises(openai.NotFoundError):
            other.responses.retrieve(response.id, stream=True)
    assert client.responses.retrieve(response.id).status == "in_progress"
    client.responses.cancel(response.id)


@pytest.mark.parametrize("id", ["resp_1", "resp_1.x", "resp_1." + "A" * 24, "a b.c", "é.ü"])
def test_an_unknown_response_is_not_found(client: openai.OpenAI, id: str) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        client.responses.retrieve(id)
    assert caught.value.code == "not_found" and caught.value.type == "invalid_request_error"


def test_a_stream_that_is_no_response_is_not_one(client: openai.OpenAI) -> None:
    raw = client.chat.completions.with_raw_response.create(model="text", messages=[], stream=True)
    raw.http_response.read()
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(f"resp_1.{raw.headers['jsonrill-stream']}")


@pytest.mark.parametrize("after", ["-1", "x", "1.5", "99", "1" * 30])
def test_a_wrong_position_is_refused(client: openai.OpenAI, after: str) -> None:
    response = client.responses.create(model="text", input="hi")
    with pytest.raises(openai.BadRequestError):
        client.responses.retrieve(response.id, stream=True, extra_query={"starting_after": after})


def test_a_wrong_token_is_refused_in_the_form_of_the_api(relay: Relay) -> None:
    base = f"{relay.server.url}/v1"
    with openai.OpenAI(base_url=base, api_key="wrong", max_retries=0) as other:
        with pytest.raises(openai.AuthenticationError) as caught:
            other.responses.create(model="text", input="hi")
    assert caught.value.type == "invalid_request_error"


def test_a_request_that_the_upstream_refuses_leaves_nothing(client: openai.OpenAI) -> None:
    for more in ({"stream": True}, {"background": True}, {}):
        with pytest.raises(openai.RateLimitError) as caught:
            client.responses.create(model="limited", input="hi", **more)  # type: ignore[call-overload]
        assert caught.value.response.headers["retry-after"] == "7"


@hard
@pytest.mark.parametrize("limit", [{"owner_streams": 2}, {"total_bytes": 100}, {"body_bytes": 10}])
def test_a_limit_refuses_a_response_before_the_upstream_is_called(
    tmp_path: Path, limit: dict[str, int]
) -> None:
    with Relay(tmp_path, **limit) as relay, relay.client() as client:
        allowed = 2 if 2 in limit.values() else 0
        for _ in range(allowed):
            client.responses.create(model="endless", input="hi", background=True)
        for more in ({"stream": True}, {"background": True}, {}):
            with pytest.raises(openai.APIStatusError) as caught:
                client.responses.create(model="text", input="hi", **more)  # type: ignore[call-overload]
            assert caught.value.status_code in (413, 429)
        assert len(relay.upstream.exchanges) == allowed


@few(1)
@pytest.mark.parametrize("cut", ["max_connection", "sigterm"])
def test_a_connection_that_ends_early_fails_visibly_and_is_resumed(
    tmp_path: Path, cut: str
) -> None:
    settings = {"max_connection": 1} if cut == "max_connection" else {"grace": 3}
    with Relay(tmp_path, **settings) as relay, relay.client() as client:
        stream = client.responses.create(
            model="words", input="hi", background=True, stream=True, timeout=60
        )
        events: list[Any] = [next(stream)]
        id = events[0].response.id
        if cut == "sigterm":
            assert relay.server.process is not None
            relay.server.process.send_signal(signal.SIGTERM)
        codes = []
        for _ in range(20):
            try:
                events += stream
                break
            except openai.APIError as error:
                codes.append(error.code)
            if cut == "sigterm" and len(codes) == 1:
                relay.server.end()
                relay.server.start()
            after = events[-1].sequence_number
            stream = client.responses.retrieve(id, stream=True, starting_after=after)
        assert codes and {*codes} == {"STOPPED" if cut == "sigterm" else "LIMIT_EXCEEDED"}
        assert [it.sequence_number for it in events] == [*range(len(events))]
        assert text_of(events) == WORDS


@few(1)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_relay_goes_on_with_a_background_response(tmp_path: Path, how: int) -> None:
    """The client has the number of the last event it saw, and nothing else."""
    with Relay(tmp_path, grace=1, relay_lease=1) as relay, relay.client() as client:
        stream = client.responses.create(model="words", input="hi", background=True, stream=True)
        events: list[Any] = [next(stream) for _ in range(12)]
        relay.server.end(how)
        try:
            events += stream
        except Exception:
            pass  # the connection broke
        relay.server.start()
        id, after = events[0].response.id, events[-1].sequence_number
        events += client.responses.retrieve(id, stream=True, starting_after=after)
        assert [it.sequence_number for it in events] == [*range(len(events))]
        assert text_of(events) == WORDS and events[-1].type == "response.completed"
        assert len([it for it in relay.asked("/responses") if it.method == "POST"]) == 1
        assert client.responses.retrieve(id).output_text == WORDS


@hard
def test_a_background_response_survives_broken_connections_to_the_upstream(tmp_path: Path) -> None:
    """The relay asks for the rest, and its reader notices nothing."""
    with Relay(tmp_path) as relay, relay.client() as client:
        stream = client.responses.create(model="steady", input="hi", background=True, stream=True)
        events: list[Any] = [next(stream) for _ in range(5)]
        relay.provider.break_off()
        events += stream
        assert text_of(events) == WORDS
        assert len(relay.asked("starting_after=")) >= 1


@hard
@pytest.mark.parametrize("background", [True, False])
def test_what_cannot_go_on_after_a_kill_fails_visibly(tmp_path: Path, background: bool) -> None:
    settings = {"relay_lease": 1, "resumes": not background}
    with Relay(tmp_path, **settings) as relay, relay.client() as client:
        stream = client.responses.create(
            model="endless", input="hi", background=background, stream=True
        )
        events: list[Any] = [next(stream) for _ in range(12)]
        relay.server.kill()
        relay.server.start()
        id = events[0].response.id
        with pytest.raises(openai.APIError) as caught:
            for event in client.responses.retrieve(id, stream=True, starting_after=11):
                events.append(event)
        assert caught.value.code == ("UPSTREAM_LOST" if background else "PRODUCER_LOST")
        assert (WORDS * 100).startswith(text_of(events))
        response = client.responses.retrieve(id)
        assert response.status == "failed" and response.error is not None
        assert response.output_text == text_of(events)
