"""Bad requests of every kind: a clear 4xx, never a 5xx, and nothing of anybody is lost.

By table, then by machine: schemathesis makes requests from the document that the server serves,
good and bad ones, and checks each answer against it.
"""

from __future__ import annotations

import socket
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from support import tries
from support.processes import Server

PLAIN = {"content-type": "text/plain"}
LINES = {"content-type": "application/x-ndjson"}
JSON = {"content-type": "application/json"}
SSE = {"content-type": "text/event-stream"}


def make(client: httpx2.Client, **options: Any) -> str:
    return str(client.post("/v1/streams", json=options).json()["id"])


@pytest.mark.parametrize(
    "body, headers, status",
    [
        (b"{", JSON, 400),
        (b"\xff", JSON, 400),
        (b"[" * 100_000, JSON, 413),
        (b"[" * 50_000, JSON, 400),
        (b"[]", JSON, 422),
        (b"{}", PLAIN, 415),
        (b"{}", {}, 415),
        (b'{"input":"x"}', JSON, 422),
        (b'{"input":["text"]}', JSON, 422),
        (b'{"unknown":1}', JSON, 422),
        (b'{"mode":"SOMETIMES"}', JSON, 422),
        (b'{"mode":5}', JSON, 422),
        (b'{"send":"x"}', JSON, 422),
        (b'{"entity":5}', JSON, 422),
        (b'{"entity":"a["}', JSON, 422),
        (b'{"schema":5}', JSON, 422),
        (b'{"schema":{"type":"nothing"}}', JSON, 422),
        (b'{"schema":{"$ref":"http://127.0.0.1:9/x"}}', JSON, 422),
        (b'{"repair":["no such rule"]}', JSON, 422),
        (b'{"repair":5}', JSON, 422),
        (b'{"lease":0}', JSON, 422),
        (b'{"lease":1e999}', JSON, 422),
        (b'{"lease":NaN}', JSON, 422),
        (b'{"null":"x"}', JSON, 422),
        (b'{"provider":"nobody","input":"events"}', JSON, 422),
        (b'{"provider":5}', JSON, 422),
        (b'{"schemas":[]}', JSON, 422),
        (b'{"schemas":{"f":5},"input":"events"}', JSON, 422),
        (b'{"zero_values":true}', JSON, 422),
    ],
    ids=lambda value: value[:40].decode("latin-1") if isinstance(value, bytes) else None,
)
def test_bad_options(
    client: httpx2.Client, body: bytes, headers: dict[str, str], status: int
) -> None:
    answer = client.post("/v1/streams", content=body, headers=headers)
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "input, body, headers, status",
    [
        ("text", b"\xff\xfe", PLAIN, 400),
        ("text", b"caf\xc3", PLAIN, 400),
        ("text", b"x", {}, 415),
        ("text", b"x", {"content-type": "image/png"}, 415),
        ("text", b"{}\n", LINES, 400),
        ("text", b'"a"\n"b\n', LINES, 400),
        ("text", b"data: 1\n\n", SSE, 415),
        ("text", b'"' + b"x" * 70_000 + b'"', LINES, 413),
        ("snapshots", b"{", JSON, 400),
        ("snapshots", b'{"a":1}\n{"a":', LINES, 400),
        ("snapshots", b"NaN", LINES, 400),
        ("snapshots", b"x", PLAIN, 415),
        ("events", b"[]\n", LINES, 400),
        ("events", b"5", JSON, 400),
        ("events", b"data: {\n\n", SSE, 400),
        ("events", b"data: 5\n\n", SSE, 400),
        ("events", b"data: " + b"x" * 70_000, SSE, 413),
    ],
)
def test_bad_bodies_leave_no_trace(
    client: httpx2.Client, input: str, body: bytes, headers: dict[str, str], status: int
) -> None:
    stream = make(client, input=input)
    answer = client.post(f"/v1/streams/{stream}/events", content=body, headers=headers)
    assert answer.status_code == status, answer.text
    state = client.get(f"/v1/streams/{stream}").json()
    # Text that is longer than a record is cut into records; what was good of it stays.
    assert state["last"] == 0 and state["closed"] is False


@pytest.mark.parametrize(
    "query, headers, status",
    [
        ("format=x", {}, 422),
        ("mode=x", {}, 422),
        ("send=", {}, 422),
        ("unknown=1", {}, 422),
        ("entity=a[", {}, 422),
        ("after=x", {}, 400),
        ("after=99", {}, 400),
        ("after=0.0", {}, 400),
        ("", {"last-event-id": "x"}, 400),
        ("", {"last-event-id": "9" * 30}, 400),
        ("", {"last-event-id": "-1"}, 400),
        ("", {"last-event-id": "1.2.3.4"}, 400),
    ],
)
def test_bad_questions(
    client: httpx2.Client, query: str, headers: dict[str, str], status: int
) -> None:
    stream = make(client)
    answer = client.get(f"/v1/streams/{stream}/events?{query}", headers=headers)
    assert answer.status_code == status, answer.text


@pytest.mark.parametrize("id", ["x", "x" * 65, "%00", "..", "a%2Fb", "é", "{id}"])
def test_ids_that_are_none(client: httpx2.Client, id: str) -> None:
    for path in ("", "/events", "/value"):
        answer = client.get(f"/v1/streams/{id}{path}")
        assert answer.status_code == 404, answer.text


@pytest.mark.parametrize(
    "method, path, status",
    [
        ("PUT", "/v1/streams", 405),
        ("GET", "/v1/streams", 405),
        ("TRACE", "/healthz", 405),
        ("GET", "/v1", 404),
        ("GET", "/nothing/", 404),
        ("POST", "/v1/embeddings", 404),
        ("GET", "/../etc/passwd", 404),
    ],
)
def test_wrong_methods_and_paths(
    client: httpx2.Client, method: str, path: str, status: int
) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status
    assert answer.json()["error"]["code"]
    if status == 404:
        assert "/openapi.json lists them" in answer.json()["error"]["message"]


@settings(max_examples=tries(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.binary(max_size=300))
def test_bytes_that_are_no_request(server: Server, data: bytes) -> None:
    host = urlsplit(server.url)
    with socket.create_connection((host.hostname, host.port), 5) as link:  # type: ignore[arg-type]
        link.sendall(b"POST /v1/streams HTTP/1.1\r\n" + data)
        link.shutdown(socket.SHUT_WR)
        link.settimeout(5)
        answer = link.recv(100)
    assert not answer.startswith(b"HTTP/1.1 5")


def test_the_document_and_the_answers_agree(server: Server, client: httpx2.Client) -> None:
    document = client.get("/openapi.json").json()
    known = make(client)
    client.post(f"/v1/streams/{known}/events", content="[1]", headers=PLAIN)
    client.post(f"/v1/streams/{known}/close")
    for methods in document["paths"].values():
        for parameter in methods.get("parameters", []):
            parameter["schema"] = {"type": "string", "enum": [known, "x"]}
    schema = schemathesis.openapi.from_dict(document)
    schema.config.update(base_url=server.url)
    tried = 0
    for result in schema.get_all_operations():
        operation = result.ok()  # type: ignore[union-attr]
        tried += 1

        @settings(
            max_examples=tries(12),
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def answers(case: Any) -> None:
            case.validate_response(
                case.call(timeout=60),
                checks=[
                    schemathesis.checks.not_a_server_error,
                    status_code_conformance,
                    content_type_conformance,
                    response_schema_conformance,
                ],
            )

        answers()
    assert tried == sum(len({*methods} - {"parameters"}) for methods in document["paths"].values())
    assert client.get("/healthz").status_code == 200
    assert "Traceback" not in server.log()
