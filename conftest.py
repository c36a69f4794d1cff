"""How every test runs: hypothesis tries modestly, never against a clock, and the same in CI.

And the same from a terminal as without one: signals and the terminal's variables are set aside.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from support import HARDER, IN_CI, hard, tries

if TYPE_CHECKING:
    from support.stores import StoreServers

# In the background of a shell Ctrl-C is ignored, and every process started here would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
for name in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE"):
    os.environ.pop(name, None)

settings.register_profile(
    "jsonrill",
    max_examples=tries(60),
    deadline=None,
    # A busy machine makes data generation slow; that says nothing about the code.
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=IN_CI and not HARDER,
    print_blob=True,
)
settings.load_profile("jsonrill")


pytest_plugins = ["support.workers"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is for `make hard`: tests and cases marked so, and files `hard_*.py`."""
    alike: dict[tuple[object, object], list[pytest.Item]] = {}
    for item in items:
        if item.path.name.startswith("hard_"):
            item.add_marker(hard)
        if item.get_closest_marker("few"):
            alike.setdefault((item.path, getattr(item, "originalname", "")), []).append(item)
    for cases in alike.values():
        count = cases[0].get_closest_marker("few").args[0]  # type: ignore[union-attr]
        tried = {at * len(cases) // count for at in range(count)}
        for at, case in enumerate(cases):
            if at not in tried:
                case.add_marker(hard)
    if not HARDER:
        config.hook.pytest_deselected(items=[it for it in items if it.get_closest_marker("hard")])
        items[:] = [it for it in items if not it.get_closest_marker("hard")]


@pytest.fixture(scope="session")
def store_servers() -> Iterator[StoreServers]:
    """The servers that stores need; each is started when a test first asks for it."""
    # Not above: where only the core is tested, the clients of databases are not installed.
    from support.stores import StoreServers

    servers = StoreServers()
    yield servers
    servers.close()


def _must_run(report: pytest.TestReport | pytest.CollectReport) -> None:
    """In CI everything is there but Ray and Spark: whatever else is skipped has failed."""
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        reason = str(report.longrepr)
        if not re.search(r"needs (ray|pyspark),", reason):
            report.outcome = "failed"
            report.longrepr = f"skipped in CI: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    report = yield
    _must_run(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, Any]:
    report = yield
    _must_run(report)
    return report
