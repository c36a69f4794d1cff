"""How every test runs: hypothesis tries modestly, never against a clock, and the same in CI."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from support import HARDER, IN_CI

settings.register_profile(
    "jsonrill",
    max_examples=60 * HARDER,
    deadline=None,
    # A busy machine makes data generation slow; that says nothing about the code.
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=IN_CI and HARDER == 1,
    print_blob=True,
)
settings.load_profile("jsonrill")
