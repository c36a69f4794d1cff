"""Three redis-server processes on loopback that are one cluster, without replicas."""

from __future__ import annotations

import random
import signal
import socket
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from support import SLACK
from support.redis_server import DURABLE, RedisServer

NODES = 3
SLOTS = 16384


def _free_port() -> int:
    """A port that is free, and so is the one that the nodes use among themselves."""
    while True:
        port = random.randint(20_000, 50_000)
        try:
            for number in (port, port + 10_000):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", number))
        except OSError:
            continue
        return port


class RedisCluster:
    """Start it, kill one node or all, start them again on the same ports with what they had."""

    name = "Redis Cluster"

    def __init__(self, folder: Path) -> None:
        self.nodes = []
        self._chance = random.Random(5)
        for number in range(NODES):
            (folder / str(number)).mkdir()
            options = {"--cluster-enabled": "yes", "--cluster-node-timeout": "1000", **DURABLE}
            node = RedisServer(folder / str(number), aof=True, port=_free_port(), options=options)
            self.nodes.append(node)
        self._joined = False

    @property
    def url(self) -> str:
        return f"redis+cluster://127.0.0.1:{self.nodes[0].port}"

    def start(self) -> None:
        for node in self.nodes:
            if node.process is None or node.process.poll() is not None:
                node.start()
        if not self._joined:
            self._join()
        self._wait_until_up()

    def _join(self) -> None:
        for number, node in enumerate(self.nodes):
            first, last = (SLOTS * at // NODES for at in (number, number + 1))
            assert node.ask(f"CLUSTER ADDSLOTSRANGE {first} {last - 1}") == b"+OK\r\n"
            assert node.ask(f"CLUSTER SET-CONFIG-EPOCH {number + 1}") == b"+OK\r\n"
            if number:
                meet = f"CLUSTER MEET 127.0.0.1 {self.nodes[0].port}"
                assert node.ask(meet) == b"+OK\r\n"
        self._joined = True

    def _wait_until_up(self) -> None:
        until = time.monotonic() + 20 * SLACK
        while time.monotonic() < until:
            said = [node.ask("CLUSTER INFO").decode() for node in self.nodes]
            if all(f"cluster_known_nodes:{NODES}" in text for text in said) and all(
                "cluster_state:ok" in text for text in said
            ):
                return
            time.sleep(0.05)
        raise RuntimeError("the cluster does not come up")

    def node_of(self, key: str) -> RedisServer:
        """The node that has a key."""
        slot = int(self.nodes[0].ask(f"CLUSTER KEYSLOT {key}")[1:])
        return self.nodes[slot * NODES // SLOTS]

    def ask(self, key: str, command: str) -> bytes:
        return self.node_of(key).ask(command)

    def empty(self) -> None:
        for node in self.nodes:
            node.empty()

    def memory(self) -> int:
        return sum(node.memory() for node in self.nodes)

    def cpu(self) -> float:
        return sum(node.cpu() for node in self.nodes)

    def send(self, how: int) -> None:
        """Send a signal to one node; what halts it and what lets it go on go to the same one."""
        if how == signal.SIGSTOP:
            self._halted = self._chance.choice(self.nodes)
        self._halted.send(how)

    def end(self, how: int = signal.SIGTERM) -> None:
        """End one node."""
        self._chance.choice(self.nodes).end(how)

    def __enter__(self) -> RedisCluster:
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        with ExitStack() as stack:
            for node in self.nodes:
                if node.process is not None and node.process.poll() is None:
                    stack.callback(node.end, signal.SIGKILL)
