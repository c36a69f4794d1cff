"""What models write around their reasoning, for all that look for it in a text."""

from __future__ import annotations

from typing import Final

# The names of elements: `<think>` … `</think>`.
ELEMENTS: Final = (
    *("think", "thinking", "thought", "thoughts", "reasoning", "reflection", "analysis"),
    *("scratchpad", "seed:think", "inner_monologue"),
)
# Other marks: how reasoning begins, and how it ends. Capitals do not matter.
MARKS: Final = (
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|channel|>analysis", "<|channel|>final"),
)
