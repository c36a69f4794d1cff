"""How a source failed: readers get a code for the kind of it, and never its text."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any

import anthropic
import botocore.exceptions  # type: ignore[import-untyped]
import httpx2
import openai
import pytest
from google.genai import errors as genai

from jsonrill_server import RunFailed, Runs
from jsonrill_server.runs.failures import KINDS, end_of

SECRET = "sk-1234"


def response(status: int) -> httpx2.Response:
    request = httpx2.Request("POST", f"https://example.org/{SECRET}")
    return httpx2.Response(status, request=request, text=SECRET)


def of_openai(status: int) -> Exception:
    return openai.APIStatusError(SECRET, response=response(status), body=None)


def of_anthropic(status: int) -> Exception:
    return anthropic.APIStatusError(SECRET, response=response(status), body=None)


def of_genai(status: int) -> Exception:
    return genai.APIError(status, {"error": {"message": SECRET}})


def of_boto(status: int) -> Exception:
    about = {"Error": {"Code": "X"}, "ResponseMetadata": {"HTTPStatusCode": status}}
    error: Exception = botocore.exceptions.ClientError(about, "ConverseStream")
    return error


def of_httpx(status: int) -> Exception:
    request = httpx2.Request("POST", "https://example.org")
    return httpx2.HTTPStatusError(
        SECRET, request=request, response=httpx2.Response(status, request=request)
    )


def wrapped(status: int) -> Exception:
    error = RuntimeError(SECRET)
    error.__cause__ = of_openai(status)
    return error


def in_a_group(status: int) -> Exception:
    return ExceptionGroup(SECRET, [ExceptionGroup(SECRET, [of_openai(status)])])


def of_an_enum(status: int) -> Exception:
    error = RuntimeError(SECRET)
    error.code = HTTPStatus(status)  # type: ignore[attr-defined]
    return error


CODES = {
    400: "SOURCE_REFUSED",
    401: "UNAUTHORIZED",
    403: "UNAUTHORIZED",
    404: "SOURCE_REFUSED",
    408: "SOURCE_TIMEOUT",
    409: "SOURCE_FAILED",
    425: "SOURCE_FAILED",
    429: "RATE_LIMITED",
    500: "SOURCE_FAILED",
    503: "SOURCE_FAILED",
    504: "SOURCE_TIMEOUT",
}


@pytest.mark.parametrize(
    "kind",
    [of_openai, of_anthropic, of_genai, of_boto, of_httpx, of_an_enum, wrapped, in_a_group],
    ids=lambda it: it.__name__,
)
def test_the_status_of_a_provider_is_a_kind_of_failure(kind: Any) -> None:
    for status, code in CODES.items():
        end = end_of(kind(status))
        assert end.code == code
        assert SECRET not in json.dumps(end.error())


@pytest.mark.parametrize(
    "error, code",
    [
        (TimeoutError(SECRET), "SOURCE_TIMEOUT"),
        (openai.APITimeoutError(response(400).request), "SOURCE_TIMEOUT"),
        (httpx2.ReadTimeout(SECRET), "SOURCE_TIMEOUT"),
        (openai.APIConnectionError(request=response(400).request), "SOURCE_FAILED"),
        (ValueError(SECRET), "SOURCE_FAILED"),
        (OSError(429, SECRET), "SOURCE_FAILED"),
        (SystemExit(429), "SOURCE_FAILED"),
        (ExceptionGroup(SECRET, [KeyError(SECRET), TimeoutError(SECRET)]), "SOURCE_TIMEOUT"),
        (BaseExceptionGroup(SECRET, [SystemExit(1), TimeoutError(SECRET)]), "SOURCE_TIMEOUT"),
    ],
)
def test_other_failures(error: BaseException, code: str) -> None:
    assert end_of(error).code == code


def itself() -> BaseException:
    error = ValueError(SECRET)
    error.__cause__ = error
    return error


def test_an_exception_that_was_raised_from_itself_is_one_failure() -> None:
    assert end_of(itself()).code == "SOURCE_FAILED"


def test_each_message_says_whether_it_helps_to_ask_again() -> None:
    assert all("ask" in end.message for end in KINDS)


@pytest.mark.parametrize(
    "word, code",
    [
        ("rate_limit_error", "RATE_LIMITED"),
        ("rate_limit_exceeded", "RATE_LIMITED"),
        ("authentication_error", "UNAUTHORIZED"),
        ("permission_error", "UNAUTHORIZED"),
        ("timeout_error", "SOURCE_TIMEOUT"),
        ("invalid_request_error", "SOURCE_REFUSED"),
        ("overloaded_error", "SOURCE_FAILED"),
        ("server_error", "SOURCE_FAILED"),
    ],
)
@pytest.mark.parametrize("sdk", ["openai", "anthropic"])
def test_a_failure_that_the_provider_reports_in_its_stream(sdk: str, word: str, code: str) -> None:
    """The status was 200 then: the real clients read such a stream, and raise."""
    error = {"type": word, "message": SECRET}
    named = {"type": "error", "error": error} if sdk == "anthropic" else {"error": error}
    body = f"event: error\ndata: {json.dumps(named)}\n\n"
    headers = {"content-type": "text/event-stream"}
    transport = httpx2.MockTransport(
        lambda request: httpx2.Response(200, text=body, headers=headers)
    )
    ask: dict[str, Any] = {"model": "any", "messages": [], "stream": True}
    http = httpx2.Client(transport=transport)
    with http, pytest.raises((openai.APIError, anthropic.APIError)) as raised:
        if sdk == "openai":
            of = openai.OpenAI(api_key="x", base_url="https://example.org", http_client=http)
            [*of.chat.completions.create(**ask)]
        else:
            claude = anthropic.Anthropic(api_key="x", http_client=http)
            [*claude.messages.create(**ask, max_tokens=5)]
    assert end_of(raised.value).code == code


def test_a_word_of_bedrock_wins_over_its_status() -> None:
    about = {"Error": {"Code": "throttlingException"}, "ResponseMetadata": {"HTTPStatusCode": 400}}
    error = botocore.exceptions.EventStreamError(about, "ConverseStream")
    assert end_of(error).code == "RATE_LIMITED"


def test_readers_of_a_run_get_the_code_and_not_the_text() -> None:
    async def source() -> AsyncIterator[str]:
        yield "half"
        raise of_openai(429)

    async def main() -> None:
        async with Runs() as runs:
            await runs.start("k", source)
            with pytest.raises(RunFailed, match="ask again") as failed:
                [event async for event in runs.read("k")]
            assert failed.value.code == "RATE_LIMITED" and SECRET not in str(failed.value)

    asyncio.run(main())
