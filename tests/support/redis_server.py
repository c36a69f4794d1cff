"""A redis-server process on a free port of loopback, with an append-only file if asked for."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

from support import SLACK, need_command

# What survives a kill. With `everysec`, Redis acknowledges writes that it holds back from a file
# whose disk is slow, for up to two seconds.
DURABLE = {"--appendfsync": "always"}
# What comes and goes with the traffic, and is not in the data.
BUFFERS = ("mem_clients_normal", "mem_aof_buffer", "mem_cluster_links")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class RedisServer:
    """Start it, stop it, kill it, start it again on the same port with what it had."""

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
        """A section of what Redis says of itself."""
        lines = self.ask(f"INFO {section}").decode().splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def empty(self) -> None:
        assert self.ask("FLUSHALL") == b"+OK\r\n"

    def memory(self) -> int:
        """Bytes that it has taken, without its buffers and connections."""
        lines = self.info("memory")
        return int(lines["used_memory"]) - sum(int(lines.get(name, 0)) for name in BUFFERS)

    def cpu(self) -> float:
        """Seconds of processor time that it has used."""
        lines = self.info("cpu")
        return float(lines["used_cpu_user"]) + float(lines["used_cpu_sys"])

    def send(self, how: int) -> None:
        assert self.process is not None
        self.process.send_signal(how)

    def end(self, how: int = signal.SIGTERM) -> None:
        assert self.process is not None
        self.process.send_signal(how)
        self.process.wait(10)

    def __enter__(self) -> RedisServer:
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.end()
