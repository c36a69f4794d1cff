"""Drop-ins for partial parsers that are given all the text so far, again and again.

`from jsonrill.compat import jiter` has the names and the results of the original, and reads of a
growing text only what is new. `install("jiter")` does the same for the packages that use jiter,
openai's and anthropic's among them, without a change in their code.

Each module stands for the original of its name, which need not be installed unless it says so.
"""

from .patching import install, installed, uninstall

__all__ = ["install", "installed", "uninstall"]
