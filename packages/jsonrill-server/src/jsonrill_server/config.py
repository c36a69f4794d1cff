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
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from .runs.settings import ConfigError, Settings, check_setting, seconds, setting

PREFIX: Final = "JSONRILL_"
SHORTEST_TOKEN: Final = 16
# Kubernetes describes each service in the environment of each container: of one that is called
# jsonrill, or jsonrill-redis, in variables that begin like settings.
_OF_KUBERNETES: Final = re.compile(
    r"(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_PROTO|_PORT|_ADDR)?)"
)
_ADDRESS: Final = re.compile(r"(tcp|udp|sctp)://")
# What a browser sends as Origin: a scheme and a host, nothing behind them.
_ORIGIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/\s*@?#]+")
_HOST: Final = re.compile(r"[^/\s*@?#]+")
# Variables of other parts of the project.
_OTHERS: Final = frozenset(("PURE", "SHARED"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Config(Settings):
    """The settings of a server. Lists are separated by commas; times are in seconds.

    Its `repr` shows what differs from the defaults, without tokens, keys and passwords.
    """

    host: str = setting("127.0.0.1", "address to listen on")
    port: int = setting(8377, "port to listen on; 0 takes a free one", most=65535)
    store: str = setting(
        "memory:",
        "where logs are kept: memory:, sqlite:///file, redis://host, postgresql://host/database",
        secret=True,
    )
    tokens: tuple[str, ...] = setting(
        (),
        "bearer tokens of 16 characters or more, each `name:token` (or a bare token)",
        secret=True,
    )
    tokens_file: str = setting("", "file with tokens, one a line; read again when it changes")
    allowed_hosts: tuple[str, ...] = setting(
        ("localhost", "127.0.0.1", "[::1]"), "names that a Host header may have; * for any"
    )
    origins: tuple[str, ...] = setting((), "origins of other sites whose pages may call (CORS)")
    insecure: bool = setting(False, "listen on a public address although there is no token")
    lease: float = seconds(300.0, "silence after which a publisher counts as lost")
    head_timeout: float = seconds(10.0, "time that a client has for the head of a request")
    keep_alive: float = seconds(5.0, "time that a connection without a request is kept")
    record_bytes: int = setting(1 << 20, "size of one record", above_zero=True)
    body_bytes: int = setting(
        16 << 20, "size of a request's body, unless it is streamed", above_zero=True
    )
    concurrency: int = setting(0, "connections to this process; 0: as many as readers, and 200")
    workers: int = setting(1, "processes on the same port; not with memory:", above_zero=True)
    drain: float = setting(0.0, "time between a stop signal, when /readyz fails, and the stop")
    tcp_user_timeout: float = seconds(30.0, "a vanished client is noticed after this time")
    page: bool = setting(True, "show the page at /, to look at streams with a browser")
    demo: bool = setting(False, "simulated models, to be chosen on the page")
    access_log: bool = setting(True, "one line of JSON per request, without what was sent")

    def __post_init__(self) -> None:
        Settings.__post_init__(self)  # a class with slots has no super() here
        parse_tokens(self.tokens)
        if self.tokens and self.tokens_file:
            raise ConfigError("set tokens or tokens_file, not both")
        for origin in self.origins:
            if not _ORIGIN.fullmatch(origin):
                raise ConfigError(f"an origin is such as https://app.example, not {origin}")
        for host in self.allowed_hosts:
            if host != "*" and not _HOST.fullmatch(host):
                raise ConfigError(f"an allowed host is such as app.example, or *, not {host}")
        if not self.allowed_hosts:
            raise ConfigError("allowed_hosts is empty: name a host, or * for any")
        if self.workers > 1 and self.in_memory:
            raise ConfigError("several workers need a store that they share, not memory:")

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None, **stronger: Any) -> Config:
        """Read settings from `JSONRILL_*`; arguments that are not None override them."""
        environ = os.environ if environ is None else environ
        known = {one.name for one in fields(cls)}
        settings: dict[str, Any] = {}
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
            settings[name.lower()] = from_text(name.lower(), text)
        settings.update({name: value for name, value in stronger.items() if value is not None})
        return cls(**settings)

    def __repr__(self) -> str:
        changed = [it for it in fields(self) if getattr(self, it.name) != it.default]
        return f"Config({', '.join(f'{it.name}={self._shown(it)}' for it in changed)})"

    def _shown(self, one: Any) -> str:
        value = getattr(self, one.name)
        if not one.metadata["secret"]:
            return repr(value)
        return repr(without_secrets(value)) if one.name == "store" else "…"

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


def from_text(name: str, text: str) -> Any:
    """Read a setting from the text of a flag or environment variable."""
    kind: Any = type(SETTINGS[name].default)
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
    check_setting(SETTINGS[name], value)
    return value


# The server's own first, then those that `Runs` has, too.
SETTINGS: Final = {
    one.name: one for one in sorted(fields(Config), key=lambda it: hasattr(Settings, it.name))
}


def lines_of(path: str) -> list[str]:
    """Return the lines of a file of tokens, without comments (#) and empty ones."""
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
