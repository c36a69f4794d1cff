"""`jsonrill serve`: starts the server; it has a flag for each setting."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Annotated, Any

import typer

from .config import SETTINGS, Config, from_text


def serve(**flags: Any) -> None:
    """Publish and resume JSON streams over HTTP.

    Streams are append-only logs: create one with POST /v1/streams, append with POST .../events,
    read server-sent events with GET .../events from any position. GET /openapi.json describes every
    route, and / is a page that shows streams. --demo adds simulated models, which also answer
    POST /v1/chat/completions, /v1/responses and /v1/messages.

    Each setting can also be the environment variable JSONRILL_<NAME>; a flag overrides it. Lists
    are separated by commas. Without tokens the server accepts connections from this machine only.

    Exit code 0: stopped by a signal; 1: the store cannot be reached; 2: a setting is wrong, the
    address is in use, or an extra is not installed.

    Example: jsonrill serve --store sqlite:///streams.db --port 8377
    """
    # Loaded when the command runs: its help needs no server.
    from . import serve as run_server
    from .store import StoreError

    try:
        read = {
            name: from_text(name, value) if isinstance(value, str) else value
            for name, value in flags.items()
        }
        run_server(Config.from_environment(**read))
    except StoreError as error:
        typer.echo(f"jsonrill: {error}", err=True)
        raise typer.Exit(1) from None
    except (ValueError, OSError) as error:
        typer.echo(f"jsonrill: {error}", err=True)
        raise typer.Exit(2) from None


# What is written for a value of this type in the help.
_METAVARS = {bool: None, int: "N", float: "SECONDS", str: "TEXT", tuple: "LIST"}


def _flag(setting: Any) -> Parameter:
    """The parameter of the command for one setting of the server."""
    name = setting.name.replace("_", "-")
    switch = isinstance(setting.default, bool)
    flag = f"--{name}/--no-{name}" if switch else f"--{name}"
    words = setting.metadata["help"]
    default = _shown(setting.default)
    help = f"{words[0].upper()}{words[1:]}." + (f"  [default: {default}]" if default else "")
    option = typer.Option(flag, help=help, metavar=_METAVARS[type(setting.default)])
    kind = Annotated[bool | None if switch else str | None, option]  # type: ignore[valid-type]
    return Parameter(setting.name, Parameter.KEYWORD_ONLY, default=None, annotation=kind)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else ""
    return ",".join(value) if isinstance(value, tuple) else str(value)


serve.__signature__ = Signature([_flag(setting) for setting in SETTINGS.values()])  # type: ignore[attr-defined]


def add(app: typer.Typer) -> None:
    """Add the command to those of the library (an entry point)."""
    app.command("serve")(serve)
