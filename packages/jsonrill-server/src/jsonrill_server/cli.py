"""`jsonrill serve`: starts the server; pydantic-settings makes a flag of each setting."""

from __future__ import annotations

import typer


def serve(context: typer.Context) -> None:
    """Publish and resume JSON streams over HTTP."""
    # Imported when the command runs: other commands do not need the server.
    from pydantic import ValidationError
    from pydantic_settings import CliApp

    from .log import StoreError
    from .process import serve as run
    from .settings import Settings

    try:
        run(CliApp.run(Settings, cli_args=context.args))
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_input=False):
            place = ".".join(map(str, problem["loc"]))
            message = problem["msg"].removeprefix("Value error, ")
            typer.echo(f"jsonrill: {place}{': ' if place else ''}{message}", err=True)
        raise typer.Exit(2) from None
    except StoreError as error:
        reason = " ".join(str(error).split())
        typer.echo(f"jsonrill: the store cannot be used: {reason}", err=True)
        raise typer.Exit(1) from None
    except (ValueError, OSError) as error:
        typer.echo(f"jsonrill: {error}", err=True)
        raise typer.Exit(2) from None


def add(app: typer.Typer) -> None:
    """Add the command to the library's command line (an entry point)."""
    everything = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
    app.command("serve", context_settings=everything)(serve)
