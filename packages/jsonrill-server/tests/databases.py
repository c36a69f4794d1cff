"""Servers of databases on free ports of loopback: Redis and PostgreSQL.

`initdb` refuses root, so root runs PostgreSQL as the user `postgres` that the Debian package
creates, in a folder that this user can reach.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

from support import SLACK, need_command
from support.processes import free_port

# Data must survive a kill. With `everysec`, Redis acknowledges writes that it holds back from a
# slow disk for up to two seconds.
SYNCED = {"--appendfsync": "always"}
# Memory that varies with the traffic and is not data.
BUFFERS = ("mem_clients_normal", "mem_aof_buffer")


class RedisServer:
    """A server that can be stopped, killed and restarted on the same port with its data."""

    name = "Redis"

    def __init__(
        self,
        folder: Path,
        *,
        aof: bool = False,
        port: int = 0,
        options: dict[str, str] | None = None,
    ) -> None:
        self.command = need_command("redis-server")
        self.folder = folder
        self.port = port or free_port()
        self.aof = aof
        self.options = options or {}
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        options = {
            "--bind": "127.0.0.1",
            "--port": str(self.port),
            "--dir": str(self.folder),
            "--save": "",
            "--appendonly": "yes" if self.aof else "no",
            "--appendfsync": "everysec",
            **self.options,
        }
        arguments = [word for pair in options.items() for word in pair]
        self.process = subprocess.Popen([self.command, *arguments], stdout=subprocess.DEVNULL)
        self._wait_until_up()

    def _wait_until_up(self) -> None:
        until = time.monotonic() + 10 * SLACK
        while time.monotonic() < until:
            try:
                if self.ask("PING") == b"+PONG\r\n":
                    return
            except OSError:
                pass
            time.sleep(0.02)
        raise RuntimeError("redis-server does not answer")

    def ask(self, command: str) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), 1) as link:
            link.sendall(command.encode() + b"\r\n")
            return link.recv(100_000)

    def info(self, section: str) -> dict[str, str]:
        """Return a section of Redis's INFO."""
        lines = self.ask(f"INFO {section}").decode().splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def empty(self) -> None:
        assert self.ask("FLUSHALL") == b"+OK\r\n"

    def memory(self) -> int:
        """Return the bytes of its data, without buffers and connections."""
        lines = self.info("memory")
        return int(lines["used_memory"]) - sum(int(lines.get(name, 0)) for name in BUFFERS)

    def cpu(self) -> float:
        """Return the processor time that it has used, in seconds."""
        lines = self.info("cpu")
        return float(lines["used_cpu_user"]) + float(lines["used_cpu_sys"])

    def send(self, how: int) -> None:
        assert self.process is not None
        self.process.send_signal(how)

    def end(self, how: int = signal.SIGTERM) -> None:
        assert self.process is not None
        self.process.send_signal(how)
        self.process.wait(60)

    def __enter__(self) -> RedisServer:
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.end()


# Debian does not put the programs of a server on PATH.
PLACES = "/usr/lib/postgresql/*/bin"


class PostgresServer:
    """A server that can be stopped, killed, halted and restarted on the same port with its data."""

    name = "PostgreSQL"

    def __init__(self, **settings: object) -> None:
        self.command = need_command("postgres", PLACES)
        self.folder = Path(tempfile.mkdtemp(prefix="jsonrill-postgres-"))
        self.port = free_port()
        # Nothing is lost when the processes die, only when the machine does.
        self.settings = {"fsync": "off", "max_connections": 300, **settings}
        self.process: subprocess.Popen[bytes] | None = None
        self.user = "postgres" if os.geteuid() == 0 else None
        if self.user:
            shutil.chown(self.folder, self.user, self.user)
        data = self.folder / "data"
        initdb = subprocess.run(
            [
                Path(self.command).resolve().with_name("initdb"),
                *("--pgdata", data, "--username", "jsonrill", "--auth", "trust"),
                *("--encoding", "UTF8", "--locale", "C", "--no-sync"),
            ],
            user=self.user,
            cwd=self.folder,
            capture_output=True,
            text=True,
        )
        assert initdb.returncode == 0, initdb.stderr

    def url_of(self, user: str = "jsonrill", database: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    @property
    def url(self) -> str:
        return self.url_of()

    def start(self) -> None:
        until = time.monotonic() + 30 * SLACK
        while True:
            # A killed server cannot start again before its last processes have ended.
            self._launch()
            if self._is_up(until):
                return
            assert time.monotonic() < until, (self.folder / "log").read_text()[-2000:]
            time.sleep(0.1)

    def _launch(self) -> None:
        options = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": "",
            **self.settings,
        }
        words = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [self.command, "-D", self.folder / "data", *words],
                stdout=log,
                stderr=log,
                user=self.user,
                cwd=self.folder,
            )

    def _is_up(self, until: float) -> bool:
        assert self.process is not None
        while time.monotonic() < until and self.process.poll() is None:
            try:
                self.ask("SELECT 1")
            except psycopg.OperationalError:
                time.sleep(0.05)
            else:
                return True
        return False

    def ask(self, query: str, user: str = "jsonrill", database: str = "postgres") -> Any:
        """Return the first field of the answer, if there is one."""
        url = self.url_of(user, database)
        with psycopg.connect(url, autocommit=True, connect_timeout=2) as link:
            cursor = link.execute(query.encode())
            row = cursor.fetchone() if cursor.description else None
            return row and row[0]

    def empty(self) -> None:
        self.send(signal.SIGCONT)  # a test that failed may have left it halted
        self.ask("DROP SCHEMA IF EXISTS jsonrill CASCADE")

    def _processes(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the fields of /proc/PID/stat after the name, of the process and its children."""
        assert self.process is not None
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            pid = int(stat.parent.name)
            if self.process.pid in (pid, int(fields[1])):
                yield pid, fields

    def cpu(self) -> float:
        """Return the processor time that it has used, in seconds."""
        ticks = sum(sum(map(int, fields[11:13])) for _, fields in self._processes())
        return ticks / os.sysconf("SC_CLK_TCK")

    def send(self, how: int) -> None:
        """Send a signal to all its processes, the parent first: each is a session of its own."""
        assert self.process is not None
        parent = self.process.pid
        # A killed parent has no children, and a halted one creates none.
        children = {pid for pid, _ in self._processes()} - {parent}
        with suppress(ProcessLookupError):
            os.kill(parent, how)
        for pid in children | {pid for pid, _ in self._processes()} - {parent}:
            with suppress(ProcessLookupError):
                os.kill(pid, how)

    def end(self, how: int = signal.SIGTERM) -> None:
        assert self.process is not None
        if how == signal.SIGKILL:
            self.send(how)
        else:
            # After SIGTERM it would wait for its clients.
            self.process.send_signal(signal.SIGINT)
        self.process.wait(20 * SLACK)

    def __enter__(self) -> PostgresServer:
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        assert self.process is not None
        if self.process.poll() is None:
            self.end(signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)
