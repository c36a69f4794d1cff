"""The settings of the server, from flags, from `JSONRILL_*` in the environment, and defaults."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

_OWNER: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
Names = Annotated[tuple[str, ...], NoDecode]
Seconds = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(gt=0)]
SECRETS: Final = "/run/secrets"
LOCAL: Final = ("localhost", "127.0.0.1", "[::1]")


def _setting(default: Any, help: str, **options: Any) -> Any:
    return Field(default, description=help, **options)


class Settings(BaseSettings):
    """Publish and resume JSON streams over HTTP.

    Create a stream with POST /v1/streams, append with POST .../events, read server-sent events with
    GET .../events from any position. GET /openapi.json describes every route, and / is a page that
    shows streams. --demo adds simulated models, which also answer POST /v1/chat/completions,
    /v1/responses and /v1/messages.

    Each setting can also be the environment variable JSONRILL_<NAME>, or a file
    /run/secrets/jsonrill_<name>; a flag overrides both. Lists are separated by commas, times are in
    seconds. Without tokens the server accepts connections from this machine only.

    Exit code 0: stopped by a signal; 1: the store cannot be used; 2: a setting is wrong, the
    address is in use, or an extra is not installed.

    Example: jsonrill serve --store sqlite:///streams.db --port 8377
    """

    model_config = SettingsConfigDict(
        env_prefix="JSONRILL_",
        env_ignore_empty=True,
        secrets_dir=SECRETS if Path(SECRETS).is_dir() else None,
        extra="forbid",
        frozen=True,
        cli_prog_name="jsonrill serve",
        cli_kebab_case=True,
        cli_implicit_flags=True,
        cli_exit_on_error=False,
    )

    host: str = _setting("127.0.0.1", "address to listen on")
    port: int = _setting(8377, "port to listen on; 0 takes a free one", ge=0, le=65535)
    store: str = _setting(
        "memory:", "memory:, sqlite:///file, redis://host or postgresql://host/database", repr=False
    )
    tokens: Names = _setting(
        (), "bearer tokens, each owner:token, of at least 16 characters", repr=False
    )
    allowed_hosts: Names = _setting(LOCAL, "names that a Host header may have; * for any")
    origins: Names = _setting((), "origins of other sites whose pages may call (CORS)")
    insecure: bool = _setting(False, "listen on a public address without a token")
    lease: Seconds = _setting(300.0, "silence after which a publisher counts as lost")
    keep: Seconds = _setting(3600.0, "how long a stream is kept after its last record")
    heartbeat: Seconds = _setting(15.0, "silence after which readers get a heartbeat")
    send_timeout: Seconds = _setting(30.0, "disconnect readers that receive nothing for this long")
    head_timeout: Seconds = _setting(10.0, "time for a client to send the headers of a request")
    retry: int = _setting(1000, "milliseconds after which a browser reconnects", ge=0)
    readers: Count = _setting(5000, "readers of this process at a time")
    owner_streams: Count = _setting(1000, "streams per owner; above it, old ended ones are deleted")
    stream_bytes: Count = _setting(16 << 20, "size of one stream")
    stream_records: Count = _setting(100_000, "records of one stream")
    record_bytes: Count = _setting(512 << 10, "size of one record")
    body_bytes: Count = _setting(16 << 20, "size of the body of a request")
    grace: Seconds = _setting(10.0, "time for runs and requests to end after a stop signal")
    demo: bool = _setting(False, "serve a simulated model with the OpenAI and Anthropic APIs")
    access_log: bool = _setting(True, "one line per request, without ids and content")

    @field_validator("tokens", "allowed_hosts", "origins", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        if isinstance(value, str):
            parts = re.split("[,\n]", value)
            return tuple(part.strip() for part in parts if part.strip())
        return value

    @field_validator("tokens")
    @classmethod
    def _check(cls, tokens: tuple[str, ...]) -> tuple[str, ...]:
        parse_tokens(tokens)
        return tokens

    def check_exposure(self) -> None:
        """Raise ValueError if the server would be open to a network without a token."""
        is_local = self.host in (*LOCAL, "::1") or self.host.startswith("127.")
        if not (self.tokens or self.insecure or is_local):
            raise ValueError(
                f"{self.host} can be reached by others: set a token (JSONRILL_TOKENS), or"
                " --insecure if something in front of the server checks who calls"
            )


def parse_tokens(texts: Iterable[str]) -> dict[str, str]:
    """Return token → owner from texts `owner:token`; a token alone belongs to `user`.

    Errors name the number of a token, never its text, because it may be a secret.
    """
    owners: dict[str, str] = {}
    for number, text in enumerate(texts, 1):
        owner, _, token = text.rpartition(":")
        if len(token) < 16:
            raise ValueError(f"token {number} has fewer than 16 characters")
        if token in owners:
            raise ValueError(f"token {number} appears twice")
        if not _OWNER.fullmatch(owner or "user"):
            raise ValueError(f"the owner of token {number} may contain only A-Za-z0-9_.-")
        owners[token] = owner or "user"
    return owners
