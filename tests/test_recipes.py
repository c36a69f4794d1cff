"""The recipes for web frameworks, as the docs show them, on real servers and a fake provider.

What counts is what the provider is paid for: the tokens that it had sent when the connection ended.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from jsonrill.eventstream import SSEDecoder
from jsonrill.testing import Exchange, FakeAnswer, Upstream
from support import ROOT, SLACK, few, hard
from support.browser import launched
from support.markdown import read
from support.processes import Server, free_port

DJANGO = """
import os
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.urls import path
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="test")
import views
urlpatterns = [path(ROUTE, VIEW)]
app = get_asgi_application()
"""


def django(route: str, view: str) -> str:
    return DJANGO.replace("ROUTE", route).replace("VIEW", view)


UVICORN = ("uvicorn", "main:app", "--log-level", "warning", "--port")
# The framework, the file of its recipe, what else it needs, and how it is served.
SERVED: dict[str, tuple[str, dict[str, str], tuple[str, ...]]] = {
    "fastapi": ("main.py", {}, UVICORN),
    "django": ("views.py", {"main.py": django('"trip"', "views.trip")}, UVICORN),
    "flask": ("main.py", {}, ("flask", "--app", "main:app", "run", "--port")),
}
DAYS = [{"title": f"Day {number} in the hills", "hours": 6.5} for number in range(20)]
GOOD = json.dumps({"city": "Rome", "days": DAYS})
# The hours of the second day are not a number: a violation at a tenth of the answer.
BAD = GOOD.replace("6.5", '"many"', 2).replace('"many"', "6.5", 1)


class Site(NamedTuple):
    url: str
    upstream: Upstream
    # The answers that the provider gives, one after the other.
    answers: list[FakeAnswer]

    def open(self, answer: FakeAnswer) -> Any:
        self.answers.append(answer)
        return urllib.request.urlopen(f"{self.url}/trip?city=Rome", timeout=20 * SLACK)

    def events(self, answer: FakeAnswer) -> tuple[list[Any], str]:
        """Return the data of all events but the last, and the type of the last one."""
        with self.open(answer) as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            *events, last = SSEDecoder().feed(response.read())
        return [json.loads(event.data) for event in events], last.type

    @property
    def exchange(self) -> Exchange:
        return self.upstream.exchanges[-1]


def recipe(page: str, line: str) -> str:
    """Return the first program of a page that contains this line."""
    blocks = read((ROOT / "docs" / page).read_text("utf8")).blocks
    return next(item.text for item in blocks if item.language == "python" and line in item.text)


@contextmanager
def serving(framework: str, folder: Path, provider: str) -> Iterator[str]:
    """Serve a recipe's program, which calls this provider, and yield its URL."""
    name, more, command = SERVED[framework]
    models = recipe("sse.md", "class Trip")
    program = recipe("sse.md", f"from {framework}")
    files = {"models.py": models, name: program, **more}
    with served(files, command, folder, provider) as url:
        yield url


@contextmanager
def served(
    files: dict[str, str], command: tuple[str, ...], folder: Path, provider: str
) -> Iterator[str]:
    for file, text in files.items():
        (folder / file).write_text(text)
    port = free_port()
    path = os.pathsep.join([str(folder), *sys.path])
    there = {"OPENAI_BASE_URL": f"{provider}/v1", "OPENAI_API_KEY": "none"}
    server = subprocess.Popen(
        [sys.executable, "-m", *command, str(port)],
        cwd=folder,
        env={**os.environ, **there, "PYTHONPATH": path},
        stderr=subprocess.PIPE,
    )
    try:
        _wait_for(port, server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.communicate(timeout=60)


@pytest.fixture(scope="module", params=SERVED)
def site(request: Any, tmp_path_factory: Any) -> Iterator[Site]:
    framework = request.param
    pytest.importorskip(framework)
    pytest.importorskip("openai")
    answers: list[FakeAnswer] = []
    with Upstream(lambda exchange: answers[-1]) as upstream:
        with serving(framework, tmp_path_factory.mktemp(framework), upstream.url) as url:
            yield Site(url, upstream, answers)


@hard
def test_a_recipe_runs_with_the_demo_and_without_a_key(tmp_path: Path) -> None:
    with Server(tmp_path, demo=True) as demo, serving("fastapi", tmp_path, demo.url) as url:
        with urllib.request.urlopen(f"{url}/trip?city=Rome", timeout=20 * SLACK) as response:
            *_, last, close = SSEDecoder().feed(response.read())
    assert close.type == "CLOSE"
    update = json.loads(last.data)
    assert update["status"] == "COMPLETED" and update["data"]["city"] == "Rome"


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    import socket

    for _ in range(100 * SLACK):
        assert server.poll() is None, server.stderr and server.stderr.read().decode()
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the server did not start")


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20 * SLACK
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def all_tokens(text: str) -> int:
    return -(-len(text) // 4)


@few(1)
def test_an_answer_arrives_live_and_ends_with_close(site: Site) -> None:
    events, last = site.events(FakeAnswer(GOOD, pace=0.002))
    assert last == "CLOSE" and len(events) > 50
    assert {event["status"] for event in events[:-1]} == {"PARTIAL"}
    assert events[-1]["status"] == "COMPLETED" and events[-1]["data"] == json.loads(GOOD)
    assert site.exchange.sent == all_tokens(GOOD) + 3  # the role, the finish reason, [DONE]


def test_a_client_that_leaves_stops_the_generation(site: Site) -> None:
    # On a busy machine it takes a while until a server notices.
    response = site.open(FakeAnswer(GOOD, pace=0.04))
    assert b"PARTIAL" in response.read(200)
    response.close()
    exchange = site.exchange
    assert exchange.left.wait(20 * SLACK)
    print(f"\nleft: {exchange.sent} of {all_tokens(GOOD)} tokens")
    assert exchange.sent < all_tokens(GOOD) / 2


def test_a_violation_stops_the_generation(site: Site) -> None:
    events, last = site.events(FakeAnswer(BAD, pace=0.04))
    assert last == "CLOSE"
    error = events[-1]["error"]
    assert error["code"] == "INVALID_SCHEMA" and error["path"] == "root.days[1].hours"
    exchange = site.exchange
    assert exchange.left.wait(20 * SLACK)
    needed = BAD.index('"many"') / 4
    print(f"\nviolation at token {needed:.0f}: {exchange.sent} of {all_tokens(BAD)} tokens")
    assert exchange.sent < all_tokens(BAD) / 2


@pytest.mark.parametrize("ending", ["error", "break"])
def test_an_error_of_the_provider_is_an_event(site: Site, ending: Any) -> None:
    events, last = site.events(FakeAnswer(GOOD, pace=0.001, ending=ending, after=20))
    assert last == "CLOSE"
    assert events[-1]["status"] == "ERROR" and events[-1]["error"] == {
        "code": "SOURCE_FAILED",
        "message": "the source failed",
    }
    assert events[-2]["data"]["city"] == "Rome"
    print(f"\n{ending} after 20 tokens: {site.exchange.sent} tokens")
    until(site.exchange.ended.is_set)


@few(2)
@pytest.mark.parametrize("ending", ["length", "cut"])
def test_an_answer_that_stops_early_is_not_complete(site: Site, ending: Any) -> None:
    events, last = site.events(FakeAnswer(GOOD, pace=0.001, ending=ending, after=20))
    assert last == "CLOSE" and events[-1]["error"]["code"] == "INVALID_JSON"


def answer_to(url: str, body: Any) -> str:
    """Return the text that a client of the AI SDK reads after this POST."""
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=20 * SLACK) as response:
        events = SSEDecoder().feed(response.read())
    chunks = [json.loads(event.data) for event in events if event.data.startswith("{")]
    return "".join(chunk["delta"] for chunk in chunks if chunk["type"] == "text-delta")


MESSAGES = [{"role": "user", "content": "How is the weather?"}]
RUNS: dict[str, tuple[dict[str, str], Any]] = {
    "fastapi": ({"main.py": recipe("runs.md", "from fastapi")}, MESSAGES),
    "django": (
        {
            "views.py": recipe("runs.md", "async def chat").replace("redis://localhost", "memory:"),
            "main.py": django('"chats/<str:id>"', "views.chat"),
        },
        {"model": "any", "messages": MESSAGES, "stream": True},
    ),
}


@pytest.mark.parametrize("framework", RUNS)
def test_a_run_is_read_again(framework: str, tmp_path: Path) -> None:
    files, body = RUNS[framework]
    with Upstream(FakeAnswer("It rains.", pace=0.05)) as upstream:
        with served(files, UVICORN, tmp_path, upstream.url) as url:
            assert answer_to(f"{url}/chats/1", body) == "It rains."
            assert upstream.exchanges[0].json["messages"] == MESSAGES
            with urllib.request.urlopen(f"{url}/chats/1", timeout=20 * SLACK) as response:
                assert response.status == 204  # the client of the AI SDK has this answer


@hard
def test_a_chat_of_the_ai_sdk(tmp_path: Path) -> None:
    message = {"role": "user", "parts": [{"type": "text", "text": "How is the weather?"}]}
    files = {"main.py": recipe("sse.md", "to_ai_sdk(stream)")}
    with Upstream(FakeAnswer("It rains.", pace=0)) as upstream:
        with served(files, UVICORN, tmp_path, upstream.url) as url:
            assert answer_to(f"{url}/api/chat", {"messages": [message]}) == "It rains."
            assert upstream.exchanges[0].json["messages"] == MESSAGES


@hard
def test_an_event_source_is_closed(tmp_path: Path) -> None:
    blocks = read((ROOT / "docs" / "sse.md").read_text("utf8")).blocks
    [script] = [block.text for block in blocks if block.language == "js"]
    show = "const show = ({ data }) => { document.title = data.city; };"
    with Upstream(FakeAnswer(GOOD, pace=0)) as upstream, launched() as browser:
        with serving("fastapi", tmp_path, upstream.url) as url:
            page = browser.new_page()
            page.goto(f"{url}/docs")
            closed = (
                "source.addEventListener('CLOSE', () => { window.state = source.readyState; });"
            )
            page.add_script_tag(content=f"{show}\n{script}\n{closed}")
            page.wait_for_function("window.state === EventSource.CLOSED")
            assert page.title() == "Rome" and len(upstream.exchanges) == 1
