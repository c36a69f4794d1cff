"""The upstreams of a relay: one, or those of a table, chosen by the name of the model.

    [openai]
    url = "https://api.openai.com/v1"
    models = ["gpt-*", "o3"]          # exact names, or the beginning of names
    key_env = "OPENAI_API_KEY"        # or key_file = "/run/secrets/openai"

    [groq]
    url = "https://api.groq.com/openai/v1"
    prefix = "groq/"                  # left out of the name that is sent

    [anthropic]
    url = "https://api.anthropic.com/v1"
    models = ["claude-*"]
    auth = "x-api-key"                # how the key is sent; else as the API of the request wants it
    key_file = "/run/secrets/anthropic"

The first table that takes a model gets its requests; one without `models` and `prefix` takes all.
Keys are read when they are used, so that they can be replaced, and are never logged.
"""

from __future__ import annotations

import asyncio
import os
import tomllib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, Self

import httpx2
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from ..config import BASE_URL, Config, lines_of
from ..runs.settings import ConfigError
from .upstream import Received, UpstreamFailed

VERSION: Final = {"anthropic-version": "2023-06-01"}
# Headers of a request that reach the upstream.
PASSED: Final = ("anthropic-version", "anthropic-beta", "openai-beta")
# Where the simulated models answer instead of a server.
DEMO: Final = "http://demo.invalid/v1"
Text = Annotated[str, Field(min_length=1)]


class Table(BaseModel):
    """The table of an upstream in the file; what a field is, is also said of one that is wrong."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    url: str = Field(
        pattern=BASE_URL, description="the base URL of a server, such as https://host/v1"
    )
    models: list[Text] = Field([], min_length=1, description="a list of names, such as gpt-*")
    prefix: Text = Field("", description="the beginning of the names of its models")
    key_env: Text = Field("", description="the environment variable that has its key")
    key_file: Text = Field("", description="the file that has its key")
    auth: Literal["", "bearer", "x-api-key"] = Field("", description="bearer or x-api-key")

    @model_validator(mode="after")
    def _has_its_key(self) -> Self:
        if self.key_env and self.key_file:
            raise ConfigError("set key_env or key_file, not both")
        if self.key_env and not os.environ.get(self.key_env):
            raise ConfigError(f"{self.key_env}, which has its key, is not set")
        if self.key_file and not lines_of(self.key_file):
            raise ConfigError(f"there is no key in {self.key_file}")
        return self


class Upstream(Table):
    """One upstream: where it is, which models it has, and where its key is found."""

    name: str
    key: str = Field("", repr=False)

    def takes(self, model: str) -> bool:
        if self.prefix and not model.startswith(self.prefix):
            return False
        rest = model.removeprefix(self.prefix)
        return not self.models or any(_matches(rest, pattern) for pattern in self.models)

    def headers(self, api: str, sent: Mapping[str, str]) -> dict[str, str]:
        """The headers of a request for this API; raises UpstreamFailed if there is no key."""
        passed = {name: sent[name] for name in PASSED if name in sent}
        auth = self.auth or ("x-api-key" if api == "messages" else "bearer")
        if auth == "x-api-key":
            passed = {**VERSION, **passed}
        if not (key := self._key()):
            return passed
        named = {"x-api-key": key} if auth == "x-api-key" else {"authorization": f"Bearer {key}"}
        return {**passed, **named}

    def _key(self) -> str:
        if self.key_env and not os.environ.get(self.key_env):
            raise UpstreamFailed(502, "upstream_key", "the key of the upstream is not set")
        if not self.key_file:
            return self.key or os.environ.get(self.key_env, "")
        try:
            return (lines_of(self.key_file) or [""])[0]
        except ConfigError:
            message = "the key of the upstream cannot be read"
            raise UpstreamFailed(502, "upstream_key", message) from None


def _matches(model: str, pattern: str) -> bool:
    return model.startswith(pattern[:-1]) if pattern.endswith("*") else model == pattern


class Chosen(NamedTuple):
    """The upstream of a model, and what the model is called there."""

    upstream: Upstream
    model: str


class Upstreams:
    """All upstreams, and the client that they share, which is opened when it is first used."""

    def __init__(self, config: Config, demo: httpx2.AsyncBaseTransport | None = None) -> None:
        self.config = config
        self.all = read_table(config)
        if not self.all and demo is not None:
            self.all = [_made("demo", url=DEMO)]
        self._transport = demo if self.is_demo else None

    @property
    def is_demo(self) -> bool:
        """True if the simulated models answer."""
        return [one.url for one in self.all] == [DEMO]

    def choose(self, model: str) -> Chosen | None:
        """The first upstream that takes this model; None if none does."""
        for one in self.all:
            if one.takes(model):
                return Chosen(one, model.removeprefix(one.prefix))
        return None

    def named(self, name: str) -> Upstream | None:
        return next((one for one in self.all if one.name == name), None)

    async def send(
        self,
        upstream: Upstream,
        method: str,
        path: str,
        body: bytes = b"",
        sent: Mapping[str, str] | None = None,
    ) -> Received:
        """Send a request, and return the response without its body yet, or UpstreamFailed.

        `sent` are the client's headers, of which few are passed on.
        """
        api = path.strip("/").partition("/")[0]
        # Compressed, the events of a stream would be held back.
        headers = {"accept-encoding": "identity", **upstream.headers(api, sent or {})}
        if body:
            headers["content-type"] = "application/json"
        url = upstream.url.rstrip("/") + path
        request = self._client.build_request(method, url, content=body or None, headers=headers)
        try:
            async with asyncio.timeout(self.config.upstream_first):
                came = await self._client.send(request, stream=True)
        except (TimeoutError, httpx2.TimeoutException):
            message = "the upstream did not answer in time: ask again"
            raise UpstreamFailed(504, "upstream_timeout", message) from None
        except httpx2.HTTPError:
            message = "the upstream could not be reached: ask again"
            raise UpstreamFailed(502, "upstream_unreachable", message) from None
        if 300 <= came.status_code < 400:
            await came.aclose()
            message = "the upstream redirects: the settings must have its final address"
            raise UpstreamFailed(502, "upstream_redirected", message)
        return Received(came, self.config)

    @cached_property
    def _client(self) -> httpx2.AsyncClient:
        # A relay holds its connection for as long as the answer takes. Their number is limited
        # by the open streams of each owner, not by the pool, in which requests would wait.
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20)
        timeout = httpx2.Timeout(None, connect=self.config.upstream_connect)
        return httpx2.AsyncClient(
            timeout=timeout, limits=limits, trust_env=False, transport=self._transport
        )

    async def close(self) -> None:
        if "_client" in self.__dict__:
            await self._client.aclose()


def read_table(config: Config) -> list[Upstream]:
    """The upstreams of a configuration; ConfigError names what is wrong with the table."""
    if config.upstream:
        key, file = config.upstream_key, config.upstream_key_file
        if file:
            lines_of(file)
        return [_made("upstream", url=config.upstream, key=key, key_file=file)]
    if not config.upstreams:
        return []
    try:
        written = tomllib.loads(Path(config.upstreams).read_text("utf-8"))
        tables = TypeAdapter(dict[str, Table]).validate_python(written)
    except ValidationError as error:
        raise ConfigError(f"upstreams: {_wrong(error)}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"upstreams: {config.upstreams} cannot be read: {error}") from None
    if not tables:
        raise ConfigError(f"upstreams: there is no table in {config.upstreams}")
    return [_made(name, **dict(table)) for name, table in tables.items()]


def _made(name: str, **fields: Any) -> Upstream:
    """An upstream of fields that are known to be right."""
    return Upstream.model_construct(name=name, **fields)


def _wrong(error: ValidationError) -> str:
    """The first thing that is wrong with the tables, in words."""
    first = error.errors()[0]
    name, *field = first["loc"]
    if "error" in (context := first.get("ctx", {})):
        return f"[{name}]: {context['error']}"
    if not field:
        return f"[{name}] is a table with url, models and a key"
    known = Table.model_fields.get(str(field[0]))
    if known is not None:
        return f"[{name}]: {field[0]} is {known.description}"
    hint = ": a key comes from key_env or key_file" if field[0] == "key" else ""
    return f"[{name}] has no field {field[0]}; fields are {', '.join(Table.model_fields)}{hint}"
