"""The dialects by name: a new one is a file and a line here."""

from typing import Final

from .ag_ui import AGUI
from .ai_sdk import AISDK
from .dialect import Dialect

DIALECTS: Final[dict[str, type[Dialect]]] = {"ai-sdk": AISDK, "ag-ui": AGUI}
