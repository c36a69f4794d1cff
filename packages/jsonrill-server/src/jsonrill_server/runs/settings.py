"""The settings of logs and their readers, with their defaults; the server's are more (`config`).

A value that is not allowed raises ConfigError, with the setting's name. The help of each setting is
part of its field, so that every front can show it.
"""

from __future__ import annotations

from dataclasses import Field, dataclass, field, fields
from typing import Any, Final

from jsonrill.eventstream import HEARTBEAT_SECONDS, SEND_SECONDS

from ..bounds import Bounds

BOUNDS: Final = Bounds()


class ConfigError(ValueError):
    """A setting has a value that is not allowed, or two settings exclude each other."""


def setting(
    default: Any, help: str, *, above_zero: bool = False, most: float = 1e15, secret: bool = False
) -> Any:
    """The field of a setting."""
    metadata = {"help": help, "above_zero": above_zero, "most": most, "secret": secret}
    return field(default=default, metadata=metadata)


def seconds(default: float, help: str) -> Any:
    """A time that must not be zero: no request could be answered, or a loop would never sleep."""
    return setting(default, help, above_zero=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What bounds logs and their readers. Times are in seconds."""

    heartbeat: float = seconds(HEARTBEAT_SECONDS, "silence after which a reader is sent a comment")
    send_timeout: float = seconds(
        SEND_SECONDS, "a reader that takes nothing for so long is cut off"
    )
    retry: int = setting(2000, "milliseconds after which a browser reconnects")
    max_connection: float = seconds(3600.0, "a reader's connection ends then, to be resumed")
    readers: int = setting(2000, "readers in this process", above_zero=True)
    readers_per_stream: int = setting(500, "readers of one stream in this process", above_zero=True)
    stream_bytes: int = setting(BOUNDS.stream_bytes, "size of one stream", above_zero=True)
    stream_entries: int = setting(BOUNDS.stream_entries, "records of one stream", above_zero=True)
    owner_streams: int = setting(BOUNDS.owner_streams, "open streams of one owner", above_zero=True)
    total_streams: int = setting(BOUNDS.total_streams, "streams in the store", above_zero=True)
    keep_open: float = seconds(
        BOUNDS.keep_open, "an open stream is forgotten when silent for so long"
    )
    keep_closed: float = seconds(
        BOUNDS.keep_closed, "a finished stream is forgotten after this time"
    )
    grace: float = setting(10.0, "time that a shutdown waits for work to end")

    def __post_init__(self) -> None:
        for one in fields(self):
            check_setting(one, getattr(self, one.name))

    def bounds(self) -> Bounds:
        """The bounds of a store; each has the name of a setting."""
        return Bounds(**{one.name: getattr(self, one.name) for one in fields(Bounds)})


def check_setting(one: Field[Any], value: Any) -> None:
    """Raise ConfigError for a value of another type, or a number that is not allowed."""
    about, kind = one.metadata, type(one.default)
    allowed = {float: (int, float), tuple: (tuple, list)}.get(kind, (kind,))
    if not isinstance(value, allowed) or (kind is not bool and isinstance(value, bool)):
        shown = f"of type {type(value).__name__}" if about["secret"] else repr(value)
        raise ConfigError(f"{one.name} cannot be {shown}")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not 0 <= value <= about["most"] or (about["above_zero"] and not value):
            raise ConfigError(f"{one.name} cannot be {value}")
