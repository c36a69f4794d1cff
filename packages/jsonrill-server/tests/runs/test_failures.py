"""How a source failed: readers get a code for the kind of it, and never its text."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import anthropic
import botocore.exceptions  # type: ignore[import-untyped]
import httpx2
import openai
import pytest
from google.genai import errors as genai

from jsonrill_server import RunFailed, Runs
from jsonrill_server.runs.failures import end_of

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


CODES = {
    400: "SOURCE_REFUSED",
    401: "UNAUTHORIZED",
    403: "UNAUTHORIZED",
    404: "SOURCE_REFUSED",
    408: "SOURCE_TIMEOUT",
    429: "RATE_LIMITED",
    500: "SOURCE_FAILED",
    503: "SOURCE_FAILED",
    504: "SOURCE_TIMEOUT",
}


@pytest.mark.parametrize(
    "kind",
    [of_openai, of_anthropic, of_genai, of_boto, of_httpx, wrapped],
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
    ],
)
def test_other_failures(error: BaseException, code: str) -> None:
    assert end_of(error).code == code


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
