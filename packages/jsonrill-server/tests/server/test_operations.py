"""The server in operation: settings, credentials that change, probes, signals, logs and metrics."""

from __future__ import annotations

import asyncio
import inspect
import json
import multiprocessing
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from jsonrill_server import Config, ConfigError, create_app, serve
from jsonrill_server.config import from_text
from jsonrill_server.runs.hub import Hub
from jsonrill_server.runs.metrics import Metrics
from jsonrill_server.runs.settings import Settings
from jsonrill_server.store import MemoryStore, StoreError, StoreUnavailable
from support import PYTHONPATH, SLACK, few, hard
from support.processes import Events, Server, free_port

PLAIN = {"content-type": "text/plain"}
OLD, NEW, OTHER = "anne-old-0123456789", "anne-new-0123456789", "bob-0123456789abcd"


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


# ---- settings ----


@pytest.mark.parametrize(
    "environ, message",
    [
        ({"JSONRILL_TOKENS": "team:"}, "token 1 is empty"),
        ({"JSONRILL_TOKENS": ""}, "JSONRILL_TOKENS is empty"),
        ({"JSONRILL_TOKENS": f"a:{OLD},"}, "token 2 is empty"),
        ({"JSONRILL_TOKENS": "a:123456789012345"}, "fewer than 16 characters"),
        ({"JSONRILL_TOKENS": f"a:{OLD},b:{OLD}"}, "token 2 is token 1 again"),
        ({"JSONRILL_HEARTBEATS": "15"}, "JSONRILL_HEARTBEATS is no setting"),
        ({"JSONRILL_HEARTBEAT": "0"}, "heartbeat cannot be 0"),
        ({"JSONRILL_SEND_TIMEOUT": "0"}, "send_timeout cannot be 0"),
        ({"JSONRILL_MAX_CONNECTION": "nan"}, "max_connection cannot be nan"),
        ({"JSONRILL_LEASE": "-1"}, "lease cannot be -1"),
        ({"JSONRILL_READERS": "0"}, "readers cannot be 0"),
        ({"JSONRILL_PORT": "65536"}, "port cannot be 65536"),
        ({"JSONRILL_PORT": "http"}, "port cannot be 'http'"),
        ({"JSONRILL_ORIGINS": "app.example"}, "such as https://app.example, not app.example"),
        ({"JSONRILL_ORIGINS": "https://app.example/"}, "not https://app.example/"),
        ({"JSONRILL_ORIGINS": "*"}, "such as https://app.example, not *"),
        ({"JSONRILL_ALLOWED_HOSTS": ""}, "allowed_hosts is empty"),
        ({"JSONRILL_ALLOWED_HOSTS": "https://a.b"}, "such as app.example, or *, not https://a.b"),
        ({"JSONRILL_ALLOWED_HOSTS": "*.example"}, "such as app.example, or *, not *.example"),
        ({"JSONRILL_WORKERS": "2"}, "several workers need a store that they share"),
        ({"JSONRILL_TOKENS": OLD, "JSONRILL_TOKENS_FILE": "/y"}, "tokens or tokens_file"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(environ: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        Config.from_environment(environ)


SECRET = "s3cr3t-0123456789"


@pytest.mark.parametrize(
    "settings",
    [
        {"tokens": ("anne:" + SECRET,)},
        {"store": f"redis://:{SECRET}@host/0"},
        {"store": f"postgresql://host/db?password={SECRET}"},
    ],
)
def test_a_configuration_that_is_shown_keeps_its_secrets(settings: dict[str, Any]) -> None:
    shown = repr(Config(port=1234, **settings))
    assert SECRET not in shown and "port=1234" in shown and all(name in shown for name in settings)
    assert "host" in shown or "store" not in settings


@pytest.mark.parametrize(
    "settings",
    [
        {"tokens": SECRET},
        {"tokens": (f"{SECRET}:anne",)},  # in the wrong order
        {"tokens": (f"{SECRET}:",)},
        {"tokens": (f"{SECRET}:{OLD}", f"{SECRET}:{OLD}")},
        {"store": SECRET},
        {"store": SECRET.encode()},
        {"store": f"redis://:{SECRET}/x@host"},
        {"store": f"redis://:{SECRET}#x@host/0"},
        {"store": f"rediss://user:x?{SECRET}@host"},
        {"store": f"postgresql://user:x@{SECRET}@host/db"},
        {"store": f"postgresql://user:{SECRET}%@host/db"},
        {"store": f"postgresql://user:x/{SECRET}@host:5432/db"},
    ],
)
def test_a_setting_that_is_refused_is_not_shown_if_it_is_a_secret(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError) as refused:
        create_app(Config(**settings))
    assert SECRET not in "".join(traceback.format_exception(refused.value))


@few(2)
@pytest.mark.parametrize("kind", ["redis", "postgresql"])
@pytest.mark.parametrize("password", [SECRET, "s3cr3t%2F%40%3A-01", "s3:cr3t-01234"])
def test_a_store_that_cannot_be_opened_is_named_without_its_password(
    kind: str, password: str
) -> None:
    config = Config(port=0, store=f"{kind}://user:{password}@127.0.0.1:1/0")
    with pytest.raises(StoreError, match=f"store {kind}://…@127.0.0.1:1/0 cannot") as refused:
        serve(config)
    text = "".join(traceback.format_exception(refused.value))
    assert not any(piece in text for piece in re.split("[:%]", password) if len(piece) > 3)


def test_what_kubernetes_sets_is_no_setting() -> None:
    """For each service it sets variables, which begin like settings if it is called jsonrill."""
    environ = {
        "JSONRILL_PORT": "tcp://10.0.0.1:8377",
        "JSONRILL_PORT_8377_TCP": "tcp://10.0.0.1:8377",
        "JSONRILL_PORT_8377_TCP_ADDR": "10.0.0.1",
        "JSONRILL_PORT_8377_TCP_PORT": "8377",
        "JSONRILL_PORT_8377_TCP_PROTO": "tcp",
        "JSONRILL_SERVICE_HOST": "10.0.0.1",
        "JSONRILL_SERVICE_PORT": "8377",
        "JSONRILL_SERVICE_PORT_HTTP": "8377",
        "JSONRILL_REDIS_PORT": "tcp://10.0.0.2:6379",
        "JSONRILL_REDIS_SERVICE_HOST": "10.0.0.2",
    }
    assert Config.from_environment(environ) == Config()


def test_the_server_has_the_defaults_of_stores_and_responses() -> None:
    from jsonrill_server.event_stream_response import EventStreamResponse

    defaults = inspect.signature(EventStreamResponse).parameters
    assert Config().bounds() == MemoryStore().bounds
    assert Config().heartbeat == defaults["heartbeat"].default
    assert Config().send_timeout == defaults["send_timeout"].default


def test_every_time_and_limit_but_some_must_be_above_zero() -> None:
    may = {"port", "retry", "concurrency", "drain", "grace"}
    refused = set()
    numbers = {
        name
        for name in Config.__dataclass_fields__
        if type(getattr(Config(), name)) in (int, float)
    }
    for name in numbers:
        try:
            from_text(name, "0")
        except ConfigError:
            refused.add(name)
    assert refused == numbers - may


OWN_APP = """
from contextlib import asynccontextmanager
from fastapi import FastAPI
from jsonrill_server import Runs

runs = Runs()

@asynccontextmanager
async def lifespan(app):
    async with runs:
        yield

app = FastAPI(lifespan=lifespan)
"""
WORKERS = {
    "uvicorn": "uvicorn --workers 2 --port {port} own:app",
    "fastapi": "fastapi run own.py --workers 2 --port {port}",
    "gunicorn": "gunicorn -c settings.py own:app",
}


@few(1)
@pytest.mark.parametrize("name", WORKERS)
def test_a_store_of_one_process_is_refused_to_several(tmp_path: Path, name: str) -> None:
    port = free_port()
    (tmp_path / "own.py").write_text(OWN_APP)
    worker = "uvicorn_worker.UvicornWorker"
    settings = f"workers = 2\nworker_class = {worker!r}\nbind = '127.0.0.1:{port}'\n"
    (tmp_path / "settings.py").write_text(settings)
    path = os.pathsep.join([PYTHONPATH, os.environ.get("PYTHONPATH", "")])
    environ = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, "-m", *WORKERS[name].format(port=port).split()]
    with subprocess.Popen(
        command,
        env=environ,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        timer = threading.Timer(30 * SLACK, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        assert process.stdout is not None
        refused = any("several workers need a store" in line for line in process.stdout)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        timer.cancel()
    assert refused


def test_a_worker_takes_the_place_of_one_that_was_told_to_end(tmp_path: Path) -> None:
    """gunicorn starts the new one first."""
    with socket.create_server(("127.0.0.1", 0)):
        taken, stopped = multiprocessing.Event(), multiprocessing.Event()

        async def hold() -> None:
            hub = Hub(Settings(), MemoryStore())
            await hub.open()
            taken.set()
            stopped.wait(10 * SLACK)
            hub.stop()
            await asyncio.sleep(10 * SLACK)

        async def replace() -> None:
            hub = Hub(Settings(), MemoryStore())
            with pytest.raises(StoreError, match="several workers"):
                await hub.open()
            stopped.set()
            await hub.open()
            await hub.close()

        def worker(work: Any) -> None:
            asyncio.run(work())

        fork = multiprocessing.get_context("fork")
        first = fork.Process(target=worker, args=(hold,), daemon=True)
        first.start()
        assert taken.wait(10 * SLACK)
        second = fork.Process(target=worker, args=(replace,), daemon=True)
        second.start()
        second.join(20 * SLACK)
        first.kill()
        assert second.exitcode == 0


# ---- speed of small answers ----


@hard
def test_a_keep_alive_request_does_not_wait_for_receipts(tmp_path: Path) -> None:
    """With Nagle's algorithm on, each takes 40 ms and more."""
    with Server(tmp_path) as server, httpx2.Client(base_url=server.url, trust_env=False) as http:
        stream = http.post("/v1/streams", json={}).json()["id"]
        times = []
        for _ in range(30):
            begun = time.perf_counter()
            http.post(f"/v1/streams/{stream}/events", content="x", headers=PLAIN)
            times.append(time.perf_counter() - begun)
    assert sorted(times)[15] < 0.03, times


# ---- credentials ----


@pytest.fixture
def rotating(tmp_path: Path) -> Iterator[tuple[Server, Path, httpx2.Client]]:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"# who may\nanne:{OLD}\n\nbob:{OTHER}\n")
    with (
        Server(tmp_path, tokens_file=tokens, max_connection=1) as server,
        httpx2.Client(base_url=server.url, trust_env=False) as http,
    ):
        yield server, tokens, http


def make(http: httpx2.Client, token: str) -> str:
    answer = http.post("/v1/streams", json={}, headers=bearer(token))
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def test_a_file_of_tokens_is_read_again(rotating: tuple[Server, Path, httpx2.Client]) -> None:
    _, tokens, http = rotating
    stream = make(http, OLD)
    tokens.write_text(f"anne:{OLD}\nanne:{NEW}\nbob:{OTHER}\n")
    time.sleep(1.2)
    url = f"/v1/streams/{stream}"
    # The same owner by either token, until the old one is taken out.
    assert [http.get(url, headers=bearer(one)).status_code for one in (OLD, NEW)] == [200, 200]
    tokens.write_text(f"anne:{NEW}\nbob:{OTHER}\n")
    time.sleep(1.2)
    assert [http.get(url, headers=bearer(one)).status_code for one in (OLD, NEW)] == [401, 200]
    # A file that cannot be right changes nothing.
    tokens.write_text("anne:\n")
    time.sleep(1.2)
    assert http.get(url, headers=bearer(NEW)).status_code == 200


def test_a_connection_ends_when_its_token_is_revoked(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"anne:{OLD}\nbob:{OTHER}\n")
    with Server(tmp_path, tokens_file=tokens, heartbeat=1) as server:
        with httpx2.Client(base_url=server.url, trust_env=False) as http:
            stream = make(http, OLD)

        async def main() -> float:
            url = f"{server.url}/v1/streams/{stream}/events"
            async with asyncio.timeout(60), Events(url, headers=bearer(OLD)) as events:
                tokens.write_text(f"bob:{OTHER}\n")
                begun = time.monotonic()
                async for _ in events.chunks():
                    pass
                return time.monotonic() - begun

        assert asyncio.run(main()) < 4 * SLACK


@few(1)
@pytest.mark.parametrize("rest", ["", "# nobody\n\n"])
def test_a_file_of_tokens_that_is_emptied_revokes_them(tmp_path: Path, rest: str) -> None:
    """And the server is not one without tokens then, which anybody may use."""
    tokens = tmp_path / "tokens"
    tokens.write_text(f"anne:{OLD}\n")
    with Server(tmp_path, tokens_file=tokens) as server:
        with httpx2.Client(base_url=server.url, trust_env=False) as http:
            assert http.post("/v1/streams", headers=bearer(OLD)).status_code == 201
            tokens.write_text(rest)
            time.sleep(1.5)
            assert http.post("/v1/streams", headers=bearer(OLD)).status_code == 401
            assert http.post("/v1/streams").status_code == 401


def test_the_file_of_a_store_is_for_its_owner_alone(tmp_path: Path) -> None:
    with Server(tmp_path, store=f"sqlite:///{tmp_path}/log.db") as server:
        httpx2.post(f"{server.url}/v1/streams", trust_env=False)
        for file in tmp_path.glob("log.db*"):
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


# ---- probes and the end ----


class Broken(MemoryStore):
    """A store that can be read, but takes no writes."""

    async def probe(self) -> None:
        raise StoreUnavailable("READONLY You can't write against a read only replica.")


def asked(app: Any, *requests: tuple[str, dict[str, str]]) -> list[httpx2.Response]:
    async def work() -> list[httpx2.Response]:
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            answers = [await http.get(url, headers=headers) for url, headers in requests]
        await app.state.hub.close()
        return answers

    return asyncio.run(work())


def test_ready_means_that_a_write_works() -> None:
    config = Config(access_log=False)
    good = asked(create_app(config), *((path, {}) for path in ("/livez", "/readyz", "/healthz")))
    assert [answer.status_code for answer in good] == [200, 200, 200]
    bad = asked(create_app(config, store=Broken()), ("/livez", {}), ("/readyz", {}))
    assert [answer.status_code for answer in bad] == [200, 503]


@hard
def test_between_the_signal_and_the_end_there_is_time_to_notice(tmp_path: Path) -> None:
    with Server(tmp_path, drain=3) as server:
        with httpx2.Client(base_url=server.url, trust_env=False, timeout=10 * SLACK) as http:
            assert http.get("/readyz").status_code == 200
            assert server.process is not None
            server.process.send_signal(signal.SIGTERM)
            while http.get("/readyz").status_code == 200:
                time.sleep(0.01)
            assert http.get("/livez").status_code == 200
            assert http.post("/v1/streams", json={}).status_code == 201
        server.process.wait(10 * SLACK)


@few(1)
@pytest.mark.parametrize("name", ["uvicorn", "gunicorn"])
def test_another_server_ends_while_somebody_reads(name: str) -> None:
    port = free_port()
    command = ["uvicorn", "--factory", "jsonrill_server:create_app", "--port", str(port)]
    if name == "gunicorn":
        pytest.importorskip("gunicorn")
        worker = pytest.importorskip("uvicorn_worker").__name__ + ".UvicornWorker"
        where = f"127.0.0.1:{port}"
        command = ["gunicorn", "-k", worker, "-b", where, "jsonrill_server:create_app()"]
    path = os.pathsep.join([PYTHONPATH, os.environ.get("PYTHONPATH", "")])
    environ = {**os.environ, "PYTHONPATH": path}
    with subprocess.Popen(
        [sys.executable, "-m", *command], env=environ, stderr=subprocess.PIPE, text=True
    ) as process:
        url = f"http://127.0.0.1:{port}"
        with httpx2.Client(base_url=url, trust_env=False) as http:
            for _ in range(600):
                try:
                    stream = http.post("/v1/streams", json={}).json()["id"]
                    break
                except httpx2.TransportError:
                    time.sleep(0.1)

        async def main() -> None:
            async with Events(f"{url}/v1/streams/{stream}/events") as events:
                assert events.status == 200
                process.send_signal(signal.SIGTERM)
                async with asyncio.timeout(60):
                    async for _ in events.chunks():
                        pass  # and then it ends properly: the last chunk comes

        asyncio.run(main())
        _, errors = process.communicate(timeout=60)
    assert process.returncode in (0, -signal.SIGTERM) and "Traceback" not in errors


@hard
def test_several_workers_share_a_port_and_end_together(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/log.db"
    with Server(tmp_path, store=store, workers=2, access_log=True) as server:
        with httpx2.Client(base_url=server.url, trust_env=False) as http:
            stream = http.post("/v1/streams", json={}).json()["id"]
        for _ in range(10):  # a connection each, so that both workers are asked
            answer = httpx2.get(f"{server.url}/v1/streams/{stream}", trust_env=False)
            assert answer.status_code == 200
        assert server.end() == 0
    with pytest.raises(httpx2.TransportError):
        httpx2.get(server.url, trust_env=False)


# ---- logs and metrics ----


def test_lines_have_a_time_and_the_request_they_belong_to(tmp_path: Path) -> None:
    with Server(tmp_path, access_log=True) as server:
        with httpx2.Client(base_url=server.url, trust_env=False) as http:
            own = http.get("/livez", headers={"x-request-id": "abc-1"})
            generated = http.get("/livez", headers={"x-request-id": 'no "id"'})
        assert own.headers["x-request-id"] == "abc-1"
        assert re.fullmatch(r"[0-9a-f]{16}", generated.headers["x-request-id"])
    # A request is logged after its answer was sent: the log is complete when the server has ended.
    lines = [json.loads(line) for line in server.log().splitlines()]
    for line in lines:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"])
    requests = [line["request"] for line in lines if line["logger"] == "jsonrill_server.access"]
    assert requests == ["abc-1", generated.headers["x-request-id"]]


class Failing(MemoryStore):
    async def status(self, stream: str) -> Any:
        if stream == "bug":
            raise OSError("a bug")
        raise StoreUnavailable("the connection was refused")


def test_errors_are_logged_and_counted_as_what_they_are(caplog: pytest.LogCaptureFixture) -> None:
    answers = asked(
        create_app(Config(access_log=False), store=Failing()),
        ("/v1/streams/x", {"x-request-id": "here"}),
        ("/v1/streams/bug", {}),
        ("/metrics", {}),
    )
    assert [answer.status_code for answer in answers] == [503, 500, 200]
    text = answers[-1].text
    assert 'jsonrill_store_errors_total{task="request"} 1' in text
    for status in ("503", "500"):
        line = f'requests_total{{method="GET",route="/v1/streams/{{id}}",status="{status}"}} 1'
        assert f"jsonrill_{line}" in text
    assert any("the connection was refused" in record.message for record in caplog.records)


def test_metrics_have_kinds_and_all_digits() -> None:
    metrics = Metrics()
    metrics.add("sent_bytes_total", 12_345_678_901)
    metrics.observe("request_seconds", 0.0312, route="/")
    metrics.observe("request_seconds", 7200.0, route="/")
    text = metrics.to_text()
    assert "jsonrill_sent_bytes_total 12345678901\n" in text
    kinds = dict(re.findall(r"^# TYPE jsonrill_(\w+) (\w+)$", text, re.M))
    assert {*kinds.values()} == {"counter", "gauge", "histogram"}
    assert all((kind == "counter") == name.endswith("_total") for name, kind in kinds.items())
    for line in (
        'request_seconds_bucket{route="/",le="0.025"} 0',
        'request_seconds_bucket{route="/",le="0.05"} 1',
        'request_seconds_bucket{route="/",le="3600.0"} 1',
        'request_seconds_bucket{route="/",le="+Inf"} 2',
        'request_seconds_sum{route="/"} 7200.0312',
        'request_seconds_count{route="/"} 2',
    ):
        assert f"jsonrill_{line}\n" in text
    for line in text.splitlines():
        number = r"\d+(\.\d+)?(e-\d+)?"
        assert line.startswith("# ") or re.fullmatch(rf"[a-z_]+(\{{[^}}]*\}})? {number}", line)


def test_the_way_from_publisher_to_reader_and_the_loop_are_measured(tmp_path: Path) -> None:
    with (
        Server(tmp_path) as server,
        httpx2.Client(base_url=server.url, trust_env=False) as http,
    ):
        stream = http.post("/v1/streams", json={}).json()["id"]

        async def main() -> None:
            url = f"{server.url}/v1/streams/{stream}/events?format=text"
            async with Events(url) as events, asyncio.timeout(60):
                await asyncio.to_thread(
                    http.post, f"/v1/streams/{stream}/events", content="[", headers=PLAIN
                )
                async for _ in events:
                    break

        asyncio.run(main())
        text = ""
        while not re.search(r"^jsonrill_loop_lag_seconds_count [1-9]", text, re.M):
            text = http.get("/metrics").text
        http.post(f"/v1/streams/{stream}/close")
        closed = http.get("/metrics").text
    counts = dict(re.findall(r"^jsonrill_(\w+)_count ([0-9]+)$", text, re.M))
    assert counts["publish_send_seconds"] == "1" and int(counts["loop_lag_seconds"]) > 0
    assert 'jsonrill_streams_ended_total{how="CLOSED"} 1' in closed


# ---- numbered requests ----
