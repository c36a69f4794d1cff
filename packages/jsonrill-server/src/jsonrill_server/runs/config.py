"""Every setting of the server, with its default; read from flags and from the environment.

`JSONRILL_<NAME>` in the environment is the setting `name`; a flag is stronger. The help of each
setting is part of its field, so that every front can show it. A value that is not allowed raises
ConfigError when the configuration is created, with the setting's name and the remedy.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from jsonrill.eventstream import HEARTBEAT_SECONDS, SEND_SECONDS

from ..bounds import Bounds

PREFIX: Final = "JSONRILL_"
BOUNDS: Final = Bounds()
SHORTEST_TOKEN: Final = 16
# Kubernetes describes each service in the environment of each container: of one that is called
# jsonrill, or jsonrill-redis, in variables that begin like settings.
_OF_KUBERNETES: Final = re.compile(
    r"(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_PROTO|_PORT|_ADDR)?)"
)
_ADDRESS: Final = re.compile(r"(tcp|udp|sctp)://")
_UPSTREAM: Final = re.compile(r"https?://[^/\s]+")
# What a browser sends as Origin: a scheme and a host, nothing behind them.
_ORIGIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/\s*@?#]+")
_HOST: Final = re.compile(r"[^/\s*@?#]+")
# Variables of other parts of the project.
_OTHERS: Final = frozenset(("PURE", "SHARED"))


class ConfigError(ValueError):
    """A setting has a value that is not allowed, or two settings exclude each other."""


def _setting(
    default: Any, help: str, *, above_zero: bool = False, most: float = 1e15, secret: bool = False
) -> Any:
    metadata = {"help": help, "above_zero": above_zero, "most": most, "secret": secret}
    return field(default=default, metadata=metadata)


def _seconds(default: float, help: str) -> Any:
    """A time that must not be zero: no request could be answered, or a loop would never sleep."""
    return _setting(default, help, above_zero=True)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Config:
    """The settings of a server. Lists are separated by commas; times are in seconds.

    Its `repr` shows what differs from the defaults, without tokens, keys and passwords.
    """

    host: str = _setting("127.0.0.1", "address to listen on")
    port: int = _setting(8377, "port to listen on; 0 takes a free one", most=65535)
    store: str = _setting(
        "memory:",
        "where logs are kept: memory:, sqlite:///file, redis://host, redis+cluster://host,"
        " postgresql://host/database",
        secret=True,
    )
    tokens: tuple[str, ...] = _setting(
        (),
        "bearer tokens of 16 characters or more, each `name:token` (or a bare token)",
        secret=True,
    )
    tokens_file: str = _setting("", "file with tokens, one a line; read again when it changes")
    secret: str = _setting(
        "", "key that signs tickets; replicas share it (default: from tokens)", secret=True
    )
    secret_file: str = _setting("", "file with such keys: the first signs, all are accepted")
    allowed_hosts: tuple[str, ...] = _setting(
        ("localhost", "127.0.0.1", "[::1]"), "names that a Host header may have; * for any"
    )
    origins: tuple[str, ...] = _setting((), "origins of other sites whose pages may call (CORS)")
    insecure: bool = _setting(False, "listen on a public address although there is no token")
    upstream: str = _setting(
        "", "base URL of the OpenAI-compatible server to relay to", secret=True
    )
    upstream_key: str = _setting(
        "", "key sent to the upstream; never the client's own", secret=True
    )
    upstream_key_file: str = _setting("", "file with the key sent to the upstream")
    upstreams: str = _setting("", "TOML file with several upstreams, each a table, by model name")
    upstream_connect: float = _seconds(5.0, "time to connect to the upstream")
    upstream_first: float = _seconds(60.0, "time until the upstream's first byte")
    upstream_idle: float = _seconds(60.0, "time between bytes of the upstream")
    lease: float = _seconds(300.0, "silence after which a publisher counts as lost")
    relay_lease: float = _seconds(3.0, "the same for a relay, which renews it by itself")
    head_timeout: float = _seconds(10.0, "time that a client has for the head of a request")
    keep_alive: float = _seconds(5.0, "time that a connection without a request is kept")
    heartbeat: float = _seconds(HEARTBEAT_SECONDS, "silence after which a reader is sent a comment")
    send_timeout: float = _seconds(
        SEND_SECONDS, "a reader that takes nothing for so long is cut off"
    )
    retry: int = _setting(2000, "milliseconds after which a browser reconnects")
    max_connection: float = _seconds(3600.0, "a reader's connection ends then, to be resumed")
    long_poll: float = _seconds(20.0, "time that a long poll waits for something new")
    readers: int = _setting(2000, "readers in this process", above_zero=True)
    readers_per_stream: int = _setting(
        500, "readers of one stream in this process", above_zero=True
    )
    record_bytes: int = _setting(1 << 20, "size of one record", above_zero=True)
    body_bytes: int = _setting(
        16 << 20, "size of a request's body, unless it is streamed", above_zero=True
    )
    stream_bytes: int = _setting(BOUNDS.stream_bytes, "size of one stream", above_zero=True)
    stream_entries: int = _setting(BOUNDS.stream_entries, "records of one stream", above_zero=True)
    owner_streams: int = _setting(
        BOUNDS.owner_streams, "open streams of one owner", above_zero=True
    )
    owner_bytes: int = _setting(
        BOUNDS.owner_bytes, "size of all streams of one owner", above_zero=True
    )
    total_streams: int = _setting(BOUNDS.total_streams, "streams in the store", above_zero=True)
    total_bytes: int = _setting(BOUNDS.total_bytes, "size of the store", above_zero=True)
    keep_open: float = _seconds(
        BOUNDS.keep_open, "an open stream is forgotten when silent for so long"
    )
    keep_closed: float = _seconds(
        BOUNDS.keep_closed, "a finished stream is forgotten after this time"
    )
    ticket_seconds: float = _seconds(60.0, "a ticket is good for so long, once")
    concurrency: int = _setting(0, "connections to this process; 0: as many as readers, and 200")
    workers: int = _setting(1, "processes on the same port; not with memory:", above_zero=True)
    drain: float = _setting(0.0, "time between a stop signal, when /readyz fails, and the stop")
    grace: float = _setting(10.0, "time that a shutdown waits for work to end")
    tcp_user_timeout: float = _seconds(30.0, "a vanished client is noticed after this time")
    page: bool = _setting(True, "show the page at /, to look at streams with a browser")
    demo: bool = _setting(False, "simulated models, to be chosen on the page")
    access_log: bool = _setting(True, "one line of JSON per request, without what was sent")

    def __post_init__(self) -> None:
        for setting in fields(self):
            check_range(setting.name, getattr(self, setting.name))
        parse_tokens(self.tokens)
        for name in ("tokens", "secret", "upstream_key"):
            if getattr(self, name) and getattr(self, f"{name}_file"):
                raise ConfigError(f"set {name} or {name}_file, not both")
        if self.upstream and not _UPSTREAM.match(self.upstream):
            raise ConfigError("upstream is the base URL of a server, such as https://host/v1")
        for origin in self.origins:
            if not _ORIGIN.fullmatch(origin):
                raise ConfigError(f"an origin is such as https://app.example, not {origin}")
        for host in self.allowed_hosts:
            if host != "*" and not _HOST.fullmatch(host):
                raise ConfigError(f"an allowed host is such as app.example, or *, not {host}")
        if not self.allowed_hosts:
            raise ConfigError("allowed_hosts is empty: name a host, or * for any")
        if self.upstream and self.upstreams:
            raise ConfigError("set upstream or upstreams, not both")
        if self.workers > 1 and self.in_memory:
            raise ConfigError("several workers need a store that they share, not memory:")

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None, **stronger: Any) -> Config:
        """Read settings from `JSONRILL_*`; arguments that are not None override them."""
        environ = os.environ if environ is None else environ
        known = {setting.name for setting in fields(cls)}
        found: dict[str, Any] = {}
        for variable, text in environ.items():
            name = variable.removeprefix(PREFIX)
            if name == variable or name in _OTHERS or _OF_KUBERNETES.fullmatch(name):
                continue
            if name.endswith("PORT") and _ADDRESS.match(text):
                continue
            if name.lower() not in known:
                raise ConfigError(f"{variable} is no setting: see jsonrill serve --help")
            if name == "TOKENS" and not text.strip(" ,"):
                raise ConfigError(f"{variable} is empty: give it tokens, or unset it")
            found[name.lower()] = from_text(name.lower(), text)
        found.update({name: value for name, value in stronger.items() if value is not None})
        return cls(**found)

    def __repr__(self) -> str:
        changed = [it for it in fields(self) if getattr(self, it.name) != it.default]
        return f"Config({', '.join(f'{it.name}={self._shown(it)}' for it in changed)})"

    def _shown(self, setting: Any) -> str:
        value = getattr(self, setting.name)
        if not setting.metadata["secret"]:
            return repr(value)
        return repr(without_secrets(value)) if setting.name in ("store", "upstream") else "…"

    @property
    def in_memory(self) -> bool:
        """True if only one process can use the store."""
        return self.store.partition(":")[0] == "memory"

    def check_exposure(self) -> None:
        """Raise ConfigError if the server would be open to a network without a token."""
        guarded = self.tokens or self.tokens_file or self.insecure
        if not guarded and not is_loopback(self.host):
            raise ConfigError(
                f"{self.host} can be reached by others: set a token (JSONRILL_TOKENS),"
                " or --insecure if something in front asks for one"
            )

    def subjects(self) -> dict[str, str]:
        """Return token → name of its holder, from the settings or the current file of tokens."""
        return parse_tokens(lines_of(self.tokens_file) if self.tokens_file else self.tokens)

    def secrets(self) -> list[str]:
        """Return the keys of tickets (the first signs); none: each process makes its own."""
        if self.secret_file:
            return lines_of(self.secret_file)
        return [self.secret] if self.secret else []

    def bounds(self) -> Bounds:
        return Bounds(
            **{name.name: getattr(self, name.name) for name in fields(Bounds)}  # one name for each
        )


def parse_tokens(texts: Iterable[str]) -> dict[str, str]:
    """Token → name, from texts `name:token`; a token alone is that of `user`.

    An error names a token by its number: what is taken for a name may be a token in its place.
    """
    names: dict[str, str] = {}
    for number, text in enumerate(texts, 1):
        name, _, token = text.rpartition(":")
        if not token:
            raise ConfigError(f"token {number} is empty: is the variable set that it comes from?")
        if len(token) < SHORTEST_TOKEN:
            raise ConfigError(f"token {number} has fewer than {SHORTEST_TOKEN} characters")
        if token in names:
            raise ConfigError(f"token {number} is token {[*names].index(token) + 1} again")
        names[token] = name or "user"
    return names


def without_secrets(url: str) -> str:
    """What may be shown of a URL: neither user and password, nor parameters."""
    scheme, colon, rest = url.partition(":")
    place, parameters, _ = rest.rpartition("@")[2].partition("?")
    return f"{scheme}{colon}{'//…@' if '@' in rest else ''}{place}{'?…' if parameters else ''}"


def check_range(name: str, value: Any) -> None:
    """Raise ConfigError for a value of another type, or a number that is not allowed."""
    setting, kind = _SETTINGS[name].metadata, type(_SETTINGS[name].default)
    allowed = {float: (int, float), tuple: (tuple, list)}.get(kind, (kind,))
    if not isinstance(value, allowed) or (kind is not bool and isinstance(value, bool)):
        shown = f"of type {type(value).__name__}" if setting["secret"] else repr(value)
        raise ConfigError(f"{name} cannot be {shown}")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not 0 <= value <= setting["most"] or (setting["above_zero"] and not value):
            raise ConfigError(f"{name} cannot be {value}")


def from_text(name: str, text: str) -> Any:
    """Convert the text of a flag or environment variable to the setting's value."""
    kind: Any = type(_SETTINGS[name].default)
    try:
        if kind is tuple:
            parts = [part.strip() for part in text.split(",")]
            # An empty token is refused later, by name; elsewhere a comma too many means nothing.
            return tuple(part for part in parts if part or name == "tokens")
        if kind is bool:
            return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[
                text.lower()
            ]
        value = kind(text)
    except (ValueError, KeyError):
        raise ConfigError(f"{name} cannot be {text!r}") from None
    check_range(name, value)
    return value


_SETTINGS: Final = {setting.name: setting for setting in fields(Config)}


def lines_of(path: str) -> list[str]:
    """Return the lines of a file of secrets, without comments (#) and empty ones."""
    try:
        lines = [line.strip() for line in Path(path).read_text("utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
    return [line for line in lines if line and not line.startswith("#")]


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
