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

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import httpx2

from ..config import Config, lines_of
from ..runs.settings import ConfigError
from .upstream import Client, Received, UpstreamFailed

AUTHS: Final = ("bearer", "x-api-key")
# The fields of a table; all are texts but `models`.
FIELDS: Final = ("url", "models", "prefix", "key_env", "key_file", "auth")
VERSION: Final = {"anthropic-version": "2023-06-01"}
# Headers of a request that reach the upstream.
PASSED: Final = ("anthropic-version", "anthropic-beta", "openai-beta")
# Where the simulated models answer instead of a server.
DEMO: Final = "http://demo.invalid/v1"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Upstream:
    """One upstream: where it is, which models it has, and where its key is found."""

    name: str
    url: str
    models: tuple[str, ...] = ()
    prefix: str = ""
    key: str = ""
    key_env: str = ""
    key_file: str = ""
    auth: str = ""

    def takes(self, model: str) -> bool:
        if self.prefix and not model.startswith(self.prefix):
            return False
        rest = model.removeprefix(self.prefix)
        return not self.models or any(_matches(rest, pattern) for pattern in self.models)

    def headers(self, api: str, given: Mapping[str, str]) -> dict[str, str]:
        """The headers of a request for this API; raises UpstreamFailed if there is no key."""
        passed = {name: given[name] for name in PASSED if name in given}
        auth = self.auth or ("x-api-key" if api == "messages" else "bearer")
        if auth == "x-api-key":
            passed = {**VERSION, **passed}
        if not (key := self._key()):
            return passed
        named = {"x-api-key": key} if auth == "x-api-key" else {"authorization": f"Bearer {key}"}
        return {**passed, **named}

    def _key(self) -> str:
        if self.key_env and not os.environ.get(self.key_env):
            raise UpstreamFailed(502, "the key of the upstream is not set", "upstream_key")
        if not self.key_file:
            return self.key or os.environ.get(self.key_env, "")
        try:
            return (lines_of(self.key_file) or [""])[0]
        except ConfigError:
            message = "the key of the upstream cannot be read"
            raise UpstreamFailed(502, message, "upstream_key") from None


def _matches(model: str, pattern: str) -> bool:
    return model.startswith(pattern[:-1]) if pattern.endswith("*") else model == pattern


class Chosen(NamedTuple):
    """The upstream of a model, and what the model is called there."""

    upstream: Upstream
    model: str


class Upstreams:
    """All upstreams, and the client that they share."""

    def __init__(self, config: Config, demo: httpx2.AsyncBaseTransport | None = None) -> None:
        self.config = config
        self.all = read_table(config)
        if not self.all and demo is not None:
            self.all = [Upstream(name="demo", url=DEMO)]
        self._client = Client(config, demo if self.is_demo else None)

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
        given: Mapping[str, str] | None = None,
    ) -> Received:
        """Send a request; `given` are the client's headers, of which few are passed on."""
        api = path.strip("/").partition("/")[0]
        headers = upstream.headers(api, given or {})
        if body:
            headers["content-type"] = "application/json"
        return await self._client.send(method, upstream.url.rstrip("/") + path, headers, body)

    async def close(self) -> None:
        await self._client.close()


def read_table(config: Config) -> list[Upstream]:
    """The upstreams of a configuration; ConfigError names what is wrong with the table."""
    if config.upstream:
        key, file = config.upstream_key, config.upstream_key_file
        if file:
            lines_of(file)
        return [Upstream(name="upstream", url=config.upstream, key=key, key_file=file)]
    if not config.upstreams:
        return []
    try:
        tables = tomllib.loads(Path(config.upstreams).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"upstreams: {config.upstreams} cannot be read: {error}") from None
    if not tables:
        raise ConfigError(f"upstreams: there is no table in {config.upstreams}")
    return [_upstream(name, table) for name, table in tables.items()]


def _upstream(name: str, table: Any) -> Upstream:
    where = f"upstreams: [{name}]"
    if not isinstance(table, dict):
        raise ConfigError(f"{where} is a table with url, models and a key")
    for field, value in table.items():
        if field not in FIELDS:
            hint = ": a key comes from key_env or key_file" if field == "key" else ""
            raise ConfigError(f"{where} has no field {field}; fields are {', '.join(FIELDS)}{hint}")
        texts = value if field == "models" and isinstance(value, list) else [value]
        if not texts or not all(isinstance(text, str) and text for text in texts):
            raise ConfigError(
                f"{where}: {field} is {'a list of texts' if field == 'models' else 'a text'}"
            )
        if field == "models" and not isinstance(value, list):
            raise ConfigError(f"{where}: models is a list of texts")
    url = urlsplit(table.get("url", ""))
    if url.scheme not in ("http", "https") or not url.netloc:
        raise ConfigError(f"{where}: url is the base URL of a server, such as https://host/v1")
    if table.get("auth", "bearer") not in AUTHS:
        raise ConfigError(f"{where}: auth is {' or '.join(AUTHS)}")
    if "key_env" in table and "key_file" in table:
        raise ConfigError(f"{where}: set key_env or key_file, not both")
    if (variable := table.get("key_env")) and not os.environ.get(variable):
        raise ConfigError(f"{where}: {variable}, which has its key, is not set")
    if "key_file" in table and not lines_of(table["key_file"]):
        raise ConfigError(f"{where}: there is no key in {table['key_file']}")
    given = {**table, "models": tuple(table.get("models", ()))}
    return Upstream(name=name, **given)
