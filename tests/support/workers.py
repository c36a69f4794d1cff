"""`pytest --jobs 3`: tests are collected once, then the process splits into so many that run them.

Importing the clients of all providers takes longer than most files of tests; so it is done once.
A file stays in one process, and so do all files of a group (`TOGETHER`). Where a process
cannot be split, as on Windows, it runs all tests itself.
"""

from __future__ import annotations

import gc
import os
import random
import traceback
from collections.abc import Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any

import pytest

# Folders whose tests run in one process: each more would start its own browser or databases.
TOGETHER = {
    "page/tests/browser": "browser",
    "packages/jsonrill-server/tests/runs": "stores",
    "packages/jsonrill-server/tests/store": "stores",
}
NUMBER = 2  # bytes of the number of a group


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--jobs", type=int, default=0, help="run tests in so many processes")


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    options = session.config.option
    alone = options.jobs < 2 or options.collectonly or not hasattr(os, "fork")
    if alone or session.testsfailed:
        return None
    groups = _groups(session.items)
    session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # one for all
    queue, numbers = os.pipe()
    os.write(numbers, b"".join(at.to_bytes(NUMBER, "big") for at in range(len(groups))))
    os.close(numbers)
    # What is here stays: the collector of the workers need not look at it, nor copy its pages.
    gc.collect()
    gc.freeze()
    workers = [_Worker(session, groups, queue) for _ in range(options.jobs)]
    try:
        _listen(session, workers, queue)
    finally:
        for worker in workers:
            worker.end()
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    return True


def _groups(items: list[pytest.Item]) -> list[list[pytest.Item]]:
    """Tests that run one after the other in a process; the long groups first."""
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        file = item.nodeid.partition("::")[0]
        groups.setdefault(TOGETHER.get(file.rpartition("/")[0], file), []).append(item)
    return [groups[name] for name in sorted(groups, key=lambda name: name.endswith(".py"))]


class _Worker:
    """A process that takes groups from the queue, and what the first one hears of it."""

    def __init__(self, session: pytest.Session, groups: list[Any], queue: int) -> None:
        self.pipe, there = Pipe(duplex=False)
        self.pid = os.fork()
        if not self.pid:
            self.pipe.close()
            _work(session, groups, queue, there)
        there.close()
        self.running = ""  # the test that it runs

    def end(self) -> None:
        self.pipe.close()  # who writes to it now is ended by that
        os.waitpid(self.pid, 0)


def _work(session: pytest.Session, groups: list[Any], queue: int, out: Connection) -> None:
    """Run groups until there is none, then end this process."""
    try:
        random.seed()
        manager = session.config.pluginmanager
        capture: Any = manager.getplugin("capturemanager")
        capture.stop_global_capturing()  # its files are those of the first process
        capture.start_global_capturing()
        manager.unregister(name="terminalreporter")
        manager.register(_Reports(session.config, out))
        _run(session, _taken(groups, queue), out)
    except BaseException:
        out.send(traceback.format_exc())
        session._setupstate.teardown_exact(None)
    finally:
        os._exit(0)


def _run(session: pytest.Session, items: Iterator[pytest.Item], out: Connection) -> None:
    item = next(items, None)
    while item is not None:
        out.send(item.nodeid)
        # When there is none, fixtures are ended with this one.
        following = next(items, None)
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail or session.shouldstop:
            session._setupstate.teardown_exact(None)
            break
        item = following


def _taken(groups: list[list[pytest.Item]], queue: int) -> Iterator[pytest.Item]:
    while number := os.read(queue, NUMBER):
        yield from groups[int.from_bytes(number, "big")]


class _Reports:
    """Tells the first process what became of each test."""

    def __init__(self, config: pytest.Config, out: Connection) -> None:
        self._config = config
        self._out = out

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        hook = self._config.hook
        self._out.send(hook.pytest_report_to_serializable(config=self._config, report=report))


def _listen(session: pytest.Session, workers: list[_Worker], queue: int) -> None:
    """Report what workers say, until all have ended."""
    working: dict[Any, _Worker] = {worker.pipe: worker for worker in workers}
    while working:
        for pipe in wait([*working]):
            worker = working[pipe]
            try:
                _heard(session, worker, worker.pipe.recv())
            except EOFError:
                del working[pipe]
                if worker.running:
                    pytest.exit(f"a process ended: {worker.running}", 3)
        if session.shouldfail or session.shouldstop:
            os.read(queue, 1 << 16)  # no more groups


def _heard(session: pytest.Session, worker: _Worker, told: Any) -> None:
    if isinstance(told, str):
        worker.running = told
        return
    hook = session.config.hook
    report = hook.pytest_report_from_serializable(config=session.config, data=told)
    hook.pytest_runtest_logreport(report=report)
    if report.when == "teardown":
        worker.running = ""
