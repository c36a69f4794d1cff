"""Every setting of the server, with its default; read from flags and from the environment.

`JSONRILL_<NAME>` in the environment is the setting `name`; a flag is stronger. The help of each
setting stands beside it, so that every front can show it.
"""

from __future__ import annotations

import hashlib
import ipaddress
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..store import Bounds


class ConfigError(ValueError):
    """A setting has a value that it cannot have, or two do not go together."""


def _setting(default: Any, help: str) -> Any:
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings of a server. Lists are separated by commas; times are in seconds."""

    host: str = _setting("127.0.0.1", "address to listen on")
    port: int = _setting(8377, "port to listen on; 0 takes a free one")
    store: str = _setting("memory:", "where logs are kept: memory:, sqlite:///file, redis://host")
    tokens: tuple[str, ...] = _setting(
        (), "bearer tokens, each `name:token` (or a bare token); without any, nobody is asked"
    )
    secret: str = _setting("", "key that signs tickets; replicas share it (default: from tokens)")
    allowed_hosts: tuple[str, ...] = _setting(
        ("localhost", "127.0.0.1", "[::1]"), "names that a Host header may have; * for any"
    )
    origins: tuple[str, ...] = _setting((), "origins of other sites whose pages may call (CORS)")
    insecure: bool = _setting(False, "listen on a public address although there is no token")
    upstream: str = _setting("", "base URL of the OpenAI-compatible server to relay to")
    upstream_key: str = _setting("", "key sent to the upstream; never the client's own")
    upstream_connect: float = _setting(5.0, "time to connect to the upstream")
    upstream_first: float = _setting(60.0, "time until the upstream's first byte")
    upstream_idle: float = _setting(60.0, "time between bytes of the upstream")
    lease: float = _setting(300.0, "silence after which a publisher counts as lost")
    relay_lease: float = _setting(3.0, "the same for a relay, which renews it by itself")
    head_timeout: float = _setting(10.0, "time that a client has for the head of a request")
    heartbeat: float = _setting(15.0, "silence after which a reader is sent a comment")
    send_timeout: float = _setting(30.0, "a reader that takes nothing for so long is cut off")
    retry: int = _setting(2000, "milliseconds after which a browser reconnects")
    max_connection: float = _setting(3600.0, "a reader's connection ends then, to be resumed")
    readers: int = _setting(2000, "readers in this process")
    readers_per_stream: int = _setting(500, "readers of one stream in this process")
    record_bytes: int = _setting(1 << 20, "size of one record")
    body_bytes: int = _setting(16 << 20, "size of a request's body, unless it is streamed")
    stream_bytes: int = _setting(16 << 20, "size of one stream")
    stream_entries: int = _setting(100_000, "records of one stream")
    owner_streams: int = _setting(100, "open streams of one owner")
    total_streams: int = _setting(10_000, "streams in the store (memory, SQLite)")
    total_bytes: int = _setting(512 << 20, "size of the memory store")
    keep_open: float = _setting(3600.0, "an open stream is forgotten when silent for so long")
    keep_closed: float = _setting(3600.0, "a finished stream is forgotten after this time")
    ticket_seconds: float = _setting(60.0, "a ticket is good for so long, once")
    concurrency: int = _setting(0, "connections to this process; 0: as many as readers, and 200")
    grace: float = _setting(10.0, "time that a shutdown waits for work to end")
    tcp_user_timeout: float = _setting(30.0, "a vanished client is noticed after this time")
    page: bool = _setting(True, "show the page at /, to look at streams with a browser")
    demo: bool = _setting(False, "simulated models, to be chosen on the page")
    access_log: bool = _setting(True, "one line of JSON per request, without what was sent")

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None, **stronger: Any) -> Config:
        """Settings from `JSONRILL_*`; those given by name (and not None) are stronger."""
        environ = os.environ if environ is None else environ
        found: dict[str, Any] = {}
        for setting in fields(cls):
            text = environ.get(f"JSONRILL_{setting.name.upper()}")
            if text is not None:
                found[setting.name] = from_text(setting.name, text)
        found.update({name: value for name, value in stronger.items() if value is not None})
        return cls(**found)

    def check_exposure(self) -> None:
        """Refuse to be open to a network without a token."""
        if not self.tokens and not self.insecure and not is_loopback(self.host):
            raise ConfigError(
                f"{self.host} can be reached by others: set a token (JSONRILL_TOKENS),"
                " or --insecure if something in front asks for one"
            )

    def subjects(self) -> dict[str, str]:
        """Token → the name of who has it."""
        pairs = (text.rpartition(":") for text in self.tokens)
        return {token: name or "user" for name, _, token in pairs if token}

    def signing_key(self) -> bytes:
        if self.secret or self.tokens:
            text = self.secret or "\n".join(sorted(self.tokens))
            return hashlib.sha256(b"jsonrill tickets\n" + text.encode()).digest()
        return secrets.token_bytes(32)

    def bounds(self) -> Bounds:
        from ..store import Bounds  # loads asyncio, which a command line does not need

        return Bounds(
            **{name.name: getattr(self, name.name) for name in fields(Bounds)}  # one name for each
        )


def from_text(name: str, text: str) -> Any:
    """A setting's value from text, as flags and the environment give it."""
    kinds: dict[str, Any] = {setting.name: type(setting.default) for setting in fields(Config)}
    kind = kinds[name]
    try:
        if kind is tuple:
            return tuple(part for part in (part.strip() for part in text.split(",")) if part)
        if kind is bool:
            return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[
                text.lower()
            ]
        value = kind(text)
    except (ValueError, KeyError):
        raise ConfigError(f"{name} cannot be {text!r}") from None
    if kind in (int, float) and not 0 <= value < 1e15:
        raise ConfigError(f"{name} cannot be {text!r}")
    return value


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
