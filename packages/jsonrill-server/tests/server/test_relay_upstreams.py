"""Several upstreams by the name of the model, their keys, and /v1/models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from jsonrill.testing import FakeAnswer, Provider, Script, Upstream
from jsonrill_server import Config, ConfigError
from jsonrill_server.relay import upstreams
from jsonrill_server.relay.upstreams import read_table
from support import few, hard
from support.processes import Server

TABLE = """
[first]
url = "{first}/v1"
models = ["gpt-*", "o3"]
key_env = "RELAY_TEST_KEY"

[second]
url = "{second}/v1/"
prefix = "second/"
auth = "x-api-key"
key_file = "{folder}/key"

[third]
url = "{third}/v1"
models = ["gpt-exact", "claude"]
"""


class Relay:
    """A relay before three upstreams."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.upstreams = [
            Upstream(Provider(lambda model, n=n: FakeAnswer(f"{n} {model}", pace=0), names=names))  # type: ignore[misc]
            for n, names in enumerate([("gpt-5", "o3", "hidden"), ("a", "b/c"), ("x",)])
        ]

    def table(self) -> Path:
        names = dict(zip(("first", "second", "third"), self.upstreams, strict=True))
        urls = {name: it.url for name, it in names.items()}
        (self.folder / "key").write_text("# the key\nsecond-key\n")
        file = self.folder / "upstreams.toml"
        file.write_text(TABLE.format(**urls, folder=self.folder))
        return file


@pytest.fixture(scope="module")
def relay(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Server, list[Upstream]]]:
    setup = Relay(tmp_path_factory.mktemp("relay"))
    first, second, third = setup.upstreams
    with pytest.MonkeyPatch.context() as patch, first, second, third:
        patch.setenv("RELAY_TEST_KEY", "first-key")
        with Server(setup.folder, upstreams=setup.table(), access_log=True) as server:
            yield server, setup.upstreams
            # Keys are in no log.
            assert "first-key" not in server.log() and "second-key" not in server.log()


@pytest.fixture
def clients(relay: tuple[Server, Any]) -> Iterator[tuple[openai.OpenAI, anthropic.Anthropic]]:
    settings: dict[str, Any] = {"api_key": "mine", "max_retries": 0}
    url = relay[0].url
    with openai.OpenAI(base_url=f"{url}/v1", **settings) as one:
        with anthropic.Anthropic(base_url=url, **settings) as other:
            yield one, other


@few(4)
@pytest.mark.parametrize(
    "model, number, sent",
    [
        ("gpt-5", 0, "gpt-5"),
        ("gpt-exact", 0, "gpt-exact"),
        ("o3", 0, "o3"),
        ("second/a", 1, "a"),
        ("second/b/c", 1, "b/c"),
        ("claude", 2, "claude"),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_the_model_chooses_the_upstream(
    clients: tuple[openai.OpenAI, anthropic.Anthropic],
    relay: tuple[Server, list[Upstream]],
    model: str,
    number: int,
    sent: str,
    stream: bool,
) -> None:
    one, other = clients
    answer = one.chat.completions.create(model=model, messages=[], stream=stream)
    answers: Any = list(answer) if stream else [answer]  # type: ignore[call-overload]
    exchange = relay[1][number].exchanges[-1]
    assert exchange.json["model"] == sent and answers[0].model == sent
    keys = [{"authorization": "Bearer first-key"}, {"x-api-key": "second-key"}, {}][number]
    assert {it: exchange.headers.get(it) for it in ("authorization", "x-api-key")} == {
        "authorization": keys.get("authorization"),
        "x-api-key": keys.get("x-api-key"),
    }
    assert f"{number} {sent}" == one.responses.create(model=model, input="hi").output_text
    messages: Any = [{"role": "user", "content": "hi"}]
    version = {"anthropic-version": "2030-01-01"}
    block: Any = other.messages.create(
        model=model, max_tokens=9, messages=messages, extra_headers=version
    ).content[0]
    assert block.text == f"{number} {sent}"
    seen = relay[1][number].exchanges[-1]
    assert seen.headers["anthropic-version"] == "2030-01-01" and seen.target == "/v1/messages"
    assert seen.headers.get("x-api-key") == ["first-key", "second-key", None][number]


def test_a_model_that_no_upstream_has_is_not_found(
    clients: tuple[openai.OpenAI, anthropic.Anthropic],
) -> None:
    one, other = clients
    for model in ("o3-mini", "second", "", "GPT-5"):
        with pytest.raises(openai.NotFoundError) as caught:
            one.chat.completions.create(model=model, messages=[])
        assert caught.value.code == "model_not_found"
        with pytest.raises(anthropic.NotFoundError) as wrong:
            other.messages.create(model=model, max_tokens=1, messages=[])
        assert wrong.value.body["error"]["type"] == "not_found_error"  # type: ignore[index, call-overload]


def test_models_are_listed_under_the_names_that_choose_them(
    clients: tuple[openai.OpenAI, anthropic.Anthropic],
) -> None:
    """Those that no request would reach are left out."""
    one, other = clients
    expected = ["gpt-5", "o3", "second/a", "second/b/c", "claude"]
    assert [model.id for model in one.models.list()] == expected
    assert [model.id for model in other.models.list()] == expected
    assert one.models.retrieve("second/b/c").owned_by == "fake"
    assert one.models.retrieve("claude").owned_by == "third"
    assert other.models.retrieve("gpt-5").created_at.year == 1970
    with pytest.raises(openai.NotFoundError):
        one.models.retrieve("hidden")


@hard
def test_an_upstream_that_has_no_list_is_left_out(tmp_path: Path) -> None:
    with (
        Upstream(Script.json({}, 500)) as broken,
        Upstream(Provider({"m": FakeAnswer("hi")})) as good,
    ):
        file = tmp_path / "table.toml"
        file.write_text(f'[a]\nurl = "{broken.url}"\nprefix = "a/"\n[b]\nurl = "{good.url}"\n')
        with Server(tmp_path, upstreams=file) as server:
            answer = httpx2.get(f"{server.url}/v1/models", trust_env=False)
            assert [it["id"] for it in answer.json()["data"]] == ["m"]
            assert "[a]" in server.log()
        file.write_text(f'[a]\nurl = "{broken.url}"\n')
        with Server(tmp_path, upstreams=file) as server:
            assert httpx2.get(f"{server.url}/v1/models", trust_env=False).status_code == 502


def test_without_an_upstream_there_are_no_models(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        for method, path in [("GET", "models"), ("POST", "responses"), ("POST", "messages")]:
            answer = httpx2.request(method, f"{server.url}/v1/{path}", json={}, trust_env=False)
            assert answer.status_code == 404 and "no upstream" in answer.text


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "no table"),
        ("[a", "cannot be read"),
        ("a = 1", "is a table"),
        ("[a]\nurl = 1", "url is the base URL"),
        ("[a]\nmodels = ['x']", "url is the base URL"),
        ("[a]\nurl = 'ftp://x/'", "url is the base URL"),
        ("[a]\nurl = 'http://x'\nmodels = 'gpt'", "models is a list"),
        ("[a]\nurl = 'http://x'\nmodels = [1]", "models is a list"),
        ("[a]\nurl = 'http://x'\nmodels = []", "models is a list"),
        ("[a]\nurl = 'http://x'\nkey = 'k'", "key_env or key_file"),
        ("[a]\nurl = 'http://x'\nmodel = ['k']", "no field model"),
        ("[a]\nurl = 'http://x'\nkey_env = 'RELAY_TEST_UNSET'", "is not set"),
        ("[a]\nurl = 'http://x'\nkey_file = '/nowhere'", "cannot be read"),
        ("[a]\nurl = 'http://x'\nprefix = ''", "prefix is the beginning"),
        ("[a]\nurl = 'http://x'\nname = 'x'", "no field name"),
        ("[a]\nurl = 'http://x'\nauth = 'basic'", "bearer or x-api-key"),
        ("[a]\nurl = 'http://x'\nkey_env = 'HOME'\nkey_file = 'x'", "not both"),
    ],
)
def test_a_table_that_is_wrong_stops_the_start(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "table.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_table(Config(upstreams=str(file)))


def test_a_table_and_one_upstream_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not both"):
        Config(upstreams="x", upstream="http://y")


def test_the_key_of_an_upstream_is_not_shown() -> None:
    table = {"name": "a", "url": "http://127.0.0.1:1", "key": "secret"}
    upstream = upstreams.Upstream.model_validate(table)
    assert upstream.headers("chat", {}) == {"authorization": "Bearer secret"}
    assert "secret" not in repr(upstream)
