"""The valid tokens and keys. Their files are read again when they change.

What a ticket or pass is signed with depends on the token it was made for: when that token is gone,
so is all that came from it, and no other token is affected.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from ..config import Config
from ..runs.settings import ConfigError

log = logging.getLogger("jsonrill_server")
# How often files are looked at, in seconds.
CHECK_EVERY: Final = 1.0


class Holder(NamedTuple):
    """The holder of a token: the name that owns streams, and a mark that identifies the token."""

    name: str
    mark: str


class Credentials:
    """Looks up tokens and keys. Without tokens all clients are the same nameless holder."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._own = secrets.token_hex(32)
        self._files = [path for path in (config.tokens_file, config.secret_file) if path]
        self._seen = self._states()
        self._due = 0.0
        self._guarded = bool(config.tokens or config.tokens_file)
        self._load()
        for path, has in ((config.tokens_file, self._tokens), (config.secret_file, self._secrets)):
            if path and not has:
                raise ConfigError(f"there is nothing in {path}")

    def of_token(self, text: str) -> Holder | None:
        """The holder of a token; None if it is unknown."""
        self._refresh()
        holder = None
        for mark, token in self._tokens.items():
            # Every token is compared, each in constant time.
            if hmac.compare_digest(token.encode(), text.encode()):
                holder = self._by_mark[mark]
        return holder

    @property
    def everybody(self) -> Holder | None:
        """The holder of all clients of a server without tokens."""
        return None if self._guarded else Holder("", "")

    @property
    def has_several_owners(self) -> bool:
        return len({holder.name for holder in self._by_mark.values()}) > 1

    def holder(self, mark: str) -> Holder | None:
        """Return the holder with this mark; None if its token is no longer valid."""
        self._refresh()
        return self._by_mark.get(mark) or (self.everybody if not mark else None)

    def keys(self, mark: str) -> list[bytes]:
        """The keys of tickets made for this token: the first signs, all are accepted."""
        self._refresh()
        token = self._tokens.get(mark, "")
        if mark and not token:
            return []
        # Without a secret of its own a server without tokens forgets its tickets with its end, and
        # so does one whose file of secrets was emptied.
        from_token = token and not self._config.secret_file
        secrets = self._secrets or ([""] if from_token else [self._own])
        return [_hashed("jsonrill tickets", secret, token) for secret in secrets]

    def _refresh(self) -> None:
        now = time.monotonic()
        if not self._files or now < self._due:
            return
        self._due = now + CHECK_EVERY
        states = self._states()
        if states == self._seen:
            return
        self._seen = states
        try:
            self._load()
        except ConfigError as error:
            log.error("tokens and keys stay as they were: %s", error)
        else:
            log.info("tokens and keys were read again: %d tokens", len(self._tokens))

    def _load(self) -> None:
        subjects, secrets = self._config.subjects(), self._config.secrets()
        self._secrets = secrets
        self._tokens = {_hashed("jsonrill mark", token).hex()[:16]: token for token in subjects}
        self._by_mark = {
            mark: Holder(subjects[token], mark) for mark, token in self._tokens.items()
        }

    def _states(self) -> list[tuple[int, int, int] | None]:
        return [_state(Path(path)) for path in self._files]


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _hashed(*parts: str) -> bytes:
    return hashlib.sha256("\n".join(parts).encode()).digest()


def signature_of(key: bytes, payload: str) -> bytes:
    return hmac.digest(key, payload.encode(), "sha256")


def first_good(keys: Iterable[bytes], payload: str, signature: bytes) -> bool:
    """True if one of the keys made this signature."""
    return any(hmac.compare_digest(signature_of(key, payload), signature) for key in keys)
