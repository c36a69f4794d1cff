"""`python -m jsonrill.server`: a server with a flag for each setting."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields

from .config import Config, ConfigError, from_text
from .run import serve

HELP = """\
Publish, resume and relay JSON streams over HTTP.

Streams are append-only logs: made with POST /v1/streams, fed with POST .../chunks, read as
server-sent events with GET .../events from any position, in this process or another.
POST /v1/convert turns a body into events; POST /v1/chat/completions relays an upstream.
GET /openapi.json describes every route, and / is a page to look at streams with; --demo gives it
simulated models."""
MORE = """\
Each setting can also be given as JSONRILL_<NAME>; a flag is stronger. Times are in seconds,
lists have commas. Without tokens the server listens on this machine only.

Example: {prog} --store sqlite:///streams.db --port 8377"""


def main(arguments: list[str] | None = None, prog: str = "python -m jsonrill.server") -> int:
    parser = argparse.ArgumentParser(
        prog=prog,
        description=HELP,
        epilog=MORE.format(prog=prog),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for setting in fields(Config):
        flag = f"--{setting.name.replace('_', '-')}"
        help = f"{setting.metadata['help']} (default: {_shown(setting.default)})"
        if isinstance(setting.default, bool):
            action = argparse.BooleanOptionalAction
            parser.add_argument(flag, action=action, default=None, help=help.replace("%", "%%"))
        else:
            parser.add_argument(flag, metavar="X", help=help.replace("%", "%%"))
    given = vars(parser.parse_args(arguments))
    try:
        read = {
            name: from_text(name, value) if isinstance(value, str) else value
            for name, value in given.items()
        }
        serve(Config.from_environment(**read))
    except (ConfigError, ValueError, OSError) as error:
        print(f"jsonrill: {error}", file=sys.stderr)
        return 2
    return 0


def _shown(value: object) -> str:
    return ",".join(value) or "none" if isinstance(value, tuple) else str(value) or "none"


if __name__ == "__main__":
    sys.exit(main())
