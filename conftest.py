"""Settings of every test run: hypothesis, markers, worker groups, strictness in CI."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from support import HARDER, IN_CI, hard, tries

# A shell ignores Ctrl-C for background jobs, and every process started here would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
for name in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE"):
    os.environ.pop(name, None)

settings.register_profile(
    "jsonrill",
    max_examples=tries(60),
    deadline=None,
    # Slow data generation is the machine's fault, not the code's.
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=IN_CI and not HARDER,
    print_blob=True,
)
settings.load_profile("jsonrill")

# Folders whose tests share a worker of pytest-xdist, so that the browser is started once. Any other
# file is a group of its own.
GROUPS = {"page/tests/browser": "browser"}
# Tests of the library that start processes or threads, load client libraries, measure, or try very
# many inputs.
SLOW = re.compile(
    r"/(cli|sources)/|_(clients|costs?|messages|testing|threads|typing|wire_page)\.py$"
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Assign each test to a worker group, and mark what `make quick` or `make test` leaves out."""
    cases_by_test: dict[tuple[object, object], list[pytest.Item]] = {}
    for item in items:
        file = item.nodeid.partition("::")[0]
        item.add_marker(pytest.mark.xdist_group(GROUPS.get(file.rpartition("/")[0], file)))
        if item.path.name.startswith("hard_"):
            item.add_marker(hard)
        if SLOW.search(file):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("few"):
            test = (item.path, getattr(item, "originalname", ""))
            cases_by_test.setdefault(test, []).append(item)
    for cases in cases_by_test.values():
        count = cases[0].get_closest_marker("few").args[0]  # type: ignore[union-attr]
        chosen = {index * len(cases) // count for index in range(count)}
        for index, case in enumerate(cases):
            if index not in chosen:
                case.add_marker(hard)


def _fail_if_skipped_in_ci(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure in CI, which has everything but the tools of the batch recipes."""
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        reason = str(report.longrepr)
        if not re.search(r"needs (ray|pyspark|duckdb|polars)\b", reason):
            report.outcome = "failed"
            report.longrepr = f"skipped in CI: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    report = yield
    _fail_if_skipped_in_ci(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, Any]:
    report = yield
    _fail_if_skipped_in_ci(report)
    return report
