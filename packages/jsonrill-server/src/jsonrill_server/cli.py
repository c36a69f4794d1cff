"""`jsonrill serve`: starts the server; it has a flag for each setting."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Annotated, Any

import typer

from .settings import Settings


def serve(**flags: Any) -> None:
    """Publish and resume JSON streams over HTTP.

    Create a stream with POST /v1/streams, append with POST .../events, read server-sent events with
    GET .../events from any position. GET /openapi.json describes every route, and / is a page that
    shows streams. --demo adds simulated models, which also answer POST /v1/chat/completions,
    /v1/responses and /v1/messages.

    Each setting can also be the environment variable JSONRILL_<NAME>; a flag overrides it. Lists
    are separated by commas. Without tokens the server accepts connections from this machine only.

    Exit code 0: stopped by a signal; 1: the store cannot be used; 2: a setting is wrong, the
    address is in use, or an extra is not installed.

    Example: jsonrill serve --store sqlite:///streams.db --port 8377
    """
    # Imported when the command runs: --help does not need the server.
    from pydantic import ValidationError

    from .log import StoreError
    from .process import serve as run

    try:
        run(Settings(**{name: value for name, value in flags.items() if value is not None}))
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_input=False):
            place = ".".join(map(str, problem["loc"]))
            message = problem["msg"].removeprefix("Value error, ")
            typer.echo(f"jsonrill: {place}{': ' if place else ''}{message}", err=True)
        raise typer.Exit(2) from None
    except StoreError as error:
        typer.echo(f"jsonrill: {error}", err=True)
        raise typer.Exit(1) from None
    except (ValueError, OSError) as error:
        typer.echo(f"jsonrill: {error}", err=True)
        raise typer.Exit(2) from None


def _flag(name: str, setting: Any) -> Parameter:
    """Return the command's parameter for a setting."""
    flag, default = name.replace("_", "-"), setting.default
    is_switch = isinstance(default, bool)
    shown = ",".join(default) if isinstance(default, tuple) else str(default)
    text = setting.description
    help = f"{text[0].upper()}{text[1:]}."
    if shown not in ("", "False"):
        help += f"  [default: {'on' if default is True else shown}]"
    option = typer.Option(
        f"--{flag}/--no-{flag}" if is_switch else f"--{flag}",
        help=help,
        metavar=None if is_switch else "VALUE",
    )
    kind = Annotated[bool | None if is_switch else str | None, option]  # type: ignore[valid-type]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind)


_PARAMETERS = [_flag(name, setting) for name, setting in Settings.model_fields.items()]
serve.__signature__ = Signature(_PARAMETERS)  # type: ignore[attr-defined]


def add(app: typer.Typer) -> None:
    """Add the command to the library's command line (an entry point)."""
    app.command("serve")(serve)
