"""The valid tokens. Their file is read again when it changes."""

from __future__ import annotations

import hashlib
import hmac
import logging
import time
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
    """Looks up tokens. Without tokens all clients are the same nameless holder."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._seen = self._state()
        self._due = 0.0
        self._guarded = bool(config.tokens or config.tokens_file)
        self._load()
        if config.tokens_file and not self._tokens:
            raise ConfigError(f"there is nothing in {config.tokens_file}")

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

    def holder(self, mark: str) -> Holder | None:
        """Return the holder with this mark; None if its token is no longer valid."""
        self._refresh()
        return self._by_mark.get(mark) or (self.everybody if not mark else None)

    def _refresh(self) -> None:
        now = time.monotonic()
        if not self._config.tokens_file or now < self._due:
            return
        self._due = now + CHECK_EVERY
        state = self._state()
        if state == self._seen:
            return
        self._seen = state
        try:
            self._load()
        except ConfigError as error:
            log.error("tokens stay as they were: %s", error)
        else:
            log.info("tokens were read again: %d", len(self._tokens))

    def _load(self) -> None:
        subjects = self._config.subjects()
        self._tokens = {
            hashlib.sha256(f"jsonrill mark\n{token}".encode()).hexdigest()[:16]: token
            for token in subjects
        }
        self._by_mark = {
            mark: Holder(subjects[token], mark) for mark, token in self._tokens.items()
        }

    def _state(self) -> tuple[int, int, int] | None:
        """Return what tells a changed file of tokens; None if there is none."""
        try:
            status = Path(self._config.tokens_file).stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino
