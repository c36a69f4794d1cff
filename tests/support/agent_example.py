"""examples/agent-fastapi as a process that can be killed, and a reader that is not a browser."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from asyncio import IncompleteReadError
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from jsonrill.testing import Exchange, FakeAnswer, Upstream
from support import PYTHONPATH, ROOT, SLACK
from support.processes import Events, free_port

EXAMPLE = ROOT / "examples" / "agent-fastapi"
SECONDS = 30 * SLACK


def fake_model(*, cut: bool = False) -> Upstream:
    """The model of the demo, in this process: it lives on when the program is killed.

    With `cut` it breaks off every second answer.
    """
    spec = importlib.util.spec_from_file_location("agent_demo", EXAMPLE / "demo.py")
    assert spec is not None and spec.loader is not None
    demo: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    demo.PACE = 0.002
    asked = count()

    def reply(exchange: Exchange) -> FakeAnswer:
        answer: FakeAnswer = demo.reply(exchange)
        number = next(asked)
        return answer if number % 2 or not cut else replace(answer, ending="reset", after=4)

    return Upstream(reply)


class Program:
    """The example on a port of its own; started again, it has the same port and store."""

    def __init__(self, folder: Path, model: str, provider: str, page: Path | None = None) -> None:
        self._folder = folder
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        (folder / "page").mkdir(exist_ok=True)
        self._environment = {
            **os.environ,
            "PYTHONPATH": f"{EXAMPLE}{os.pathsep}{PYTHONPATH}",
            "PROVIDER": provider,
            "STORE": f"sqlite:///{folder}/trips.db",
            "BOOKINGS": str(folder / "bookings.txt"),
            "PAGE": str(page or folder / "page"),
            "LEASE": "0.5",
            "OPENAI_BASE_URL": f"{model}/v1",
            "ANTHROPIC_BASE_URL": model,
            "GOOGLE_GEMINI_BASE_URL": model,
            **dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), "none"),
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> Program:
        command = [sys.executable, "-m", "uvicorn", "app:app", "--port", str(self._port)]
        with open(self._folder / "log", "ab") as log:
            self._process = subprocess.Popen(
                command, cwd=self._folder, env=self._environment, stdout=log, stderr=log
            )
        end = time.monotonic() + SECONDS
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), 1):
                return self
            assert self._process.poll() is None and time.monotonic() < end, self.log()
            time.sleep(0.05)

    def kill(self, how: int = signal.SIGKILL) -> None:
        assert self._process is not None
        self._process.send_signal(how)
        self._process.wait(SECONDS)

    def log(self) -> str:
        return (self._folder / "log").read_text()

    @property
    def bookings(self) -> list[str]:
        """The ids of the calls that had an effect."""
        file = self._folder / "bookings.txt"
        return [line.split()[0] for line in file.read_text().splitlines()] if file.exists() else []

    def post(self, path: str, body: Any) -> tuple[int, Any]:
        request = urllib.request.Request(
            self.url + path, json.dumps(body).encode(), {"content-type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            with error:
                return error.code, None

    def __enter__(self) -> Program:
        return self.start()

    def __exit__(self, *_: object) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill(signal.SIGTERM)


class Reader:
    """Begins a conversation, approves what waits, and reads on until the run has ended.

    The program is killed `delay` seconds after the event with this number, and started again.
    """

    def __init__(self, program: Program, kill_after: int = 0, delay: float = 0.0) -> None:
        self._program = program
        self._kill_after = kill_after
        self._delay = delay
        self.events: list[dict[str, Any]] = []
        self._last = ""
        self._deciding: set[asyncio.Task[None]] = set()

    async def read(self) -> list[dict[str, Any]]:
        post = self._program.post
        _, begun = await asyncio.to_thread(post, "/api/trips", {"wish": "A week in the sun"})
        self._path = f"/api/trips/{begun['id']}"
        async with asyncio.timeout(2 * SECONDS):
            while not await self._read_some():
                await asyncio.sleep(0.05)
        await asyncio.gather(*self._deciding)
        return self.events

    async def _read_some(self) -> bool:
        """Read one connection to its end; True if that is the end of the run."""
        headers = {"Last-Event-ID": self._last} if self._last else {}
        if self.events and self.events[-1].get("kind") == "waiting":
            self._decide()
        with suppress(OSError, IncompleteReadError):
            async with Events(self._program.url + self._path, headers=headers) as stream:
                if stream.status == 204:
                    return True
                async for event in stream:
                    if event.type == "CLOSE":
                        return True
                    self.events.append(json.loads(event.data))
                    self._last = event.id
                    await self._after_event(self.events[-1])
        return False

    async def _after_event(self, event: dict[str, Any]) -> None:
        if event.get("kind") == "waiting":
            self._decide()
        if len(self.events) == self._kill_after:
            self._kill_after = 0
            await asyncio.sleep(self._delay)
            await asyncio.to_thread(self._program.kill)
            await asyncio.to_thread(self._program.start)

    def _decide(self) -> None:
        """Approve the calls that wait; a decision may be lost with the program."""
        calls = self.events[-1]["calls"]

        async def decide() -> None:
            for call in calls:
                body = {"call": call, "decision": True}
                with suppress(OSError):
                    await asyncio.to_thread(self._program.post, f"{self._path}/decisions", body)

        self._deciding.add(task := asyncio.create_task(decide()))
        task.add_done_callback(self._deciding.discard)


def check(events: list[dict[str, Any]], bookings: list[str]) -> str:
    """Nothing was run twice, and what was started has an end: returns that of the booking."""
    assert [it for it in events if it.get("status") == "ERROR"] == []
    calls = [it for it in events if it["kind"] in ("call", "result")]
    booking = [it for it in calls if it["call"]["name"] == "book"]
    started = [it["call"]["id"] for it in booking if it.get("status") == "started"]
    [end] = [it for it in booking if it["kind"] == "result"]
    assert started == [end["call"]["id"]]
    assert bookings in ([], started)
    assert end["error"] == "interrupted" or (end["error"] is None and bookings)
    weather = [it for it in calls if it["kind"] == "result" and it["call"]["name"] == "weather"]
    assert weather and not any(it["error"] for it in weather)
    text = "".join([it["delta"] for it in events if it["kind"] == "text"])
    assert text.endswith("Have a good trip.")
    return end["error"] or "booked"
