"""How every test runs: hypothesis tries modestly, never against a clock, and the same in CI.

And the same from a terminal as without one: signals and the terminal's variables are set aside.
"""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

from support import HARDER, IN_CI

# In the background of a shell Ctrl-C is ignored, and every process started here would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
for name in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE"):
    os.environ.pop(name, None)

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
