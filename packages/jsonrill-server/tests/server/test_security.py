"""Who may do what, which requests are refused, and what never appears in a log."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from jsonrill_server import Config, ConfigError
from jsonrill_server.config import from_text
from support.processes import Events, Server

A, C = "a" * 16, "c" * 16
PLAIN = {"content-type": "text/plain"}
ANNE = {"authorization": "Bearer the-token-of-anne"}
BOB = {"authorization": "Bearer the-token-of-bobby"}
SETTINGS: dict[str, Any] = {
    "tokens": "anne:the-token-of-anne,bob:the-token-of-bobby",
    "origins": "https://app.example",
    "owner_streams": 30,
    "record_bytes": 1000,
    "stream_bytes": 5000,
    "stream_entries": 20,
    "readers_per_stream": 2,
    "access_log": True,
}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("guarded"), **SETTINGS) as server:
        yield server


@pytest.fixture
def http(guarded: Server) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=guarded.url, timeout=60, trust_env=False) as client:
        yield client


def make(http: httpx2.Client, who: dict[str, str] = ANNE) -> str:
    answer = http.post("/v1/streams", json={}, headers=who)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def code(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


@pytest.mark.parametrize(
    "header", [{}, {"authorization": "Bearer wrong"}, {"authorization": "Basic the-token-of-anne"}]
)
def test_a_token_is_asked_for(http: httpx2.Client, header: dict[str, str]) -> None:
    stream = make(http)
    for method, path in [
        ("POST", "/v1/streams"),
        ("GET", f"/v1/streams/{stream}"),
        ("POST", f"/v1/streams/{stream}/events"),
        ("POST", f"/v1/streams/{stream}/close"),
        ("POST", f"/v1/streams/{stream}/cancel"),
        ("DELETE", f"/v1/streams/{stream}"),
        ("GET", f"/v1/streams/{stream}/events"),
        ("GET", f"/v1/streams/{stream}/value"),
        ("GET", f"/v1/streams/{stream}/ai-sdk"),
        ("POST", f"/v1/streams/{stream}/ag-ui"),
        ("GET", "/metrics"),
    ]:
        answer = http.request(method, path, headers=header)
        assert code(answer) == (401, "TOKEN"), path
        assert answer.headers["www-authenticate"].startswith("Bearer")
    assert http.get("/healthz").status_code == 200


def test_a_stream_of_somebody_else_does_not_exist(http: httpx2.Client) -> None:
    stream = make(http)
    for method, path in [
        ("GET", ""),
        ("POST", "/events"),
        ("POST", "/close"),
        ("POST", "/cancel"),
        ("GET", "/events"),
        ("GET", "/value"),
        ("GET", "/ai-sdk"),
        ("DELETE", ""),
    ]:
        url = f"/v1/streams/{stream}{path}"
        assert code(http.request(method, url, headers={**BOB, **PLAIN})) == (404, "UNKNOWN")
    resumed = http.get(f"/v1/streams/{stream}/events", headers={**BOB, "last-event-id": "1"})
    assert resumed.status_code == 404
    assert http.get(f"/v1/streams/{stream}", headers=ANNE).json()["closed"] is False
    http.delete(f"/v1/streams/{stream}", headers=ANNE)


@pytest.mark.parametrize(
    "headers, status",
    [
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example"}, 421),
        ({"host": ""}, 421),
        ({"host": "10.1.2.3:8377"}, 421),
        ({"host": "localhost:1234"}, 200),
    ],
)
def test_only_known_hosts_are_answered(
    http: httpx2.Client, headers: dict[str, str], status: int
) -> None:
    assert http.get("/openapi.json", headers=headers).status_code == status


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/healthz", "/metrics"])
def test_probes_may_ask_by_address(http: httpx2.Client, path: str) -> None:
    for host, status in [
        ("10.1.2.3:8377", 200),
        ("[fd00::1]:8377", 200),
        ("", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
    ]:
        assert http.get(path, headers={**ANNE, "host": host}).status_code == status, host


@pytest.mark.parametrize(
    "headers, status",
    [
        ({}, 201),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-origin"}, 201),
        ({"origin": "https://app.example"}, 201),
    ],
)
def test_pages_of_other_sites_may_not_write(
    http: httpx2.Client, headers: dict[str, str], status: int
) -> None:
    answer = http.post("/v1/streams", json={}, headers={**BOB, **headers})
    assert answer.status_code == status
    allowed = answer.headers.get("access-control-allow-origin")
    assert allowed == ("https://app.example" if "app" in headers.get("origin", "") else None)


def test_a_preflight_is_answered_for_known_origins_alone(http: httpx2.Client) -> None:
    asked = {
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization",
    }
    good = http.options("/v1/streams", headers={**asked, "origin": "https://app.example"})
    assert good.headers["access-control-allow-origin"] == "https://app.example"
    assert "access-control-allow-credentials" not in good.headers
    bad = http.options("/v1/streams", headers={**asked, "origin": "https://evil.example"})
    assert "access-control-allow-origin" not in bad.headers


def test_a_page_may_send_what_the_server_reads_and_read_what_it_sends(http: httpx2.Client) -> None:
    sent = "authorization content-type last-event-id if-none-match x-request-id producer-seq"
    keys = "x-api-key anthropic-version anthropic-beta"
    headers = {
        "origin": "https://app.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": ",".join(f"{sent} {keys}".split()),
    }
    assert http.options("/v1/streams", headers=headers).status_code == 200
    answer = http.post("/v1/streams", json={}, headers={**BOB, "origin": "https://app.example"})
    exposed = answer.headers["access-control-expose-headers"].split(", ")
    assert {"location", "etag", "x-request-id", "producer-seq"} <= {*exposed}


def test_every_answer_has_the_headers(http: httpx2.Client) -> None:
    for answer in (
        http.get("/healthz"),
        http.get("/nothing"),
        http.get("/", headers={"host": "x"}),
    ):
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "require-trusted-types-for 'script'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert "server" not in answer.headers
        assert "access-control-allow-origin" not in answer.headers


def test_limits(http: httpx2.Client, guarded: Server) -> None:
    stream = make(http)
    url = f"/v1/streams/{stream}/events"
    lines = {**ANNE, "content-type": "application/x-ndjson"}
    long = json.dumps("x" * 1001)
    assert code(http.post(url, content=long, headers=lines)) == (413, "LIMIT_EXCEEDED")
    assert code(http.post("/v1/streams", json={"entity": "x" * 2000}, headers=ANNE))[0] == 413
    # Nothing of these was taken; then the stream fills up and ends with an ERROR.
    assert http.get(f"/v1/streams/{stream}", headers=ANNE).json()["last"] == 0
    answers = [
        http.post(url, content=json.dumps("x" * 900), headers=lines).status_code for _ in range(6)
    ]
    assert answers == [200] * 5 + [413]
    events = http.get(f"/v1/streams/{stream}/events?format=text", headers=ANNE).text
    assert '"code":"LIMIT_EXCEEDED"' in events and events.endswith("[DONE]\n\n")
    many = make(http)
    # More records than a stream may have: nothing of the body is taken.
    body = '"x"\n' * 21
    answer = http.post(f"/v1/streams/{many}/events", content=body, headers=lines)
    assert code(answer) == (413, "LIMIT_EXCEEDED")
    assert http.get(f"/v1/streams/{many}", headers=ANNE).json() == {
        "id": many,
        "input": "text",
        "last": 0,
        "closed": False,
        "bytes": http.get(f"/v1/streams/{many}", headers=ANNE).json()["bytes"],
        "options": {},
    }


def test_so_many_readers_and_streams(http: httpx2.Client, guarded: Server) -> None:
    stream = make(http)

    async def main() -> int:
        url = f"{guarded.url}/v1/streams/{stream}/events"
        async with Events(url, headers=ANNE), Events(url, headers=ANNE):
            async with Events(url, headers=ANNE) as third:
                return third.status

    assert asyncio.run(main()) == 429
    statuses = {http.post("/v1/streams", json={}, headers=BOB).status_code for _ in range(40)}
    assert statuses == {201, 429}


def test_logs_hold_no_payloads_no_ids_no_tokens(http: httpx2.Client, guarded: Server) -> None:
    stream = make(http)
    secret = "the-secret-payload"
    http.post(f"/v1/streams/{stream}/events", content=secret, headers={**ANNE, **PLAIN})
    http.post(f"/v1/streams/{stream}/close", headers=ANNE)
    http.get(f"/v1/streams/{stream}/events", headers=ANNE)
    http.get(f"/{secret}")
    log = guarded.log()
    every = [json.loads(line) for line in log.splitlines()]
    lines = [line for line in every if line["logger"] == "jsonrill_server.access"]
    about = {"time", "level", "logger", "request"}
    assert {*about, "method", "route", "status", "bytes", "seconds"} == set(lines[-1])
    assert any(line["route"] == "/v1/streams/{id}/events" for line in lines)
    text = log + http.get("/metrics", headers=ANNE).text
    for hidden in (secret, stream, "the-token-of-anne"):
        assert hidden not in text
    assert 'route="/v1/streams/{id}/events"' in text


def test_a_public_address_needs_a_token() -> None:
    with pytest.raises(ConfigError):
        Config(host="0.0.0.0").check_exposure()
    Config(host="0.0.0.0", tokens=("a:0123456789abcdef",)).check_exposure()
    Config(host="0.0.0.0", insecure=True).check_exposure()
    for host in ("127.0.0.1", "127.9.9.9", "localhost", "::1"):
        Config(host=host).check_exposure()


def test_settings_come_from_the_environment_and_flags_are_stronger() -> None:
    environ = {
        "JSONRILL_PORT": "99",
        "JSONRILL_TOKENS": f"a:{A}, {C}",
        "JSONRILL_ACCESS_LOG": "no",
        "OTHER": "x",
    }
    config = Config.from_environment(environ, port=100, heartbeat=None)
    assert (config.port, config.tokens, config.access_log) == (100, (f"a:{A}", C), False)
    assert config.subjects() == {A: "a", C: "user"}
    for name, text in [("port", "x"), ("port", "-1"), ("access_log", "maybe"), ("retry", "1e3")]:
        with pytest.raises(ConfigError):
            from_text(name, text)


def test_wrong_settings_are_told_in_one_line(tmp_path: Path) -> None:
    import subprocess
    import sys

    from support import HARDER, PYTHONPATH

    for arguments, message in [
        (["--host", "0.0.0.0", "--port", "0"], "can be reached by others"),
        (["--store", "ftp://x"], "a store is"),
        (["--heartbeat", "soon"], "heartbeat cannot be"),
    ][: 3 if HARDER else 1]:
        command = [sys.executable, "-m", "jsonrill", "serve", *arguments]
        done = subprocess.run(
            command, env={"PYTHONPATH": PYTHONPATH}, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 2 and message in done.stderr
        assert len(done.stderr.splitlines()) == 1
