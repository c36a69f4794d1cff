"""`python -m jsonrill` is the `jsonrill` command."""

from .cli import main

if __name__ == "__main__":
    main()
