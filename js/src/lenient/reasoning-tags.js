/**
 * What models write around their reasoning, written by tools/tables.py from parse/reasoning.py:
 * change it there.
 */

/** The names of elements: `<think>` … `</think>`. */
export const ELEMENTS = ["think", "thinking", "thought", "thoughts", "reasoning", "reflection", "analysis", "scratchpad", "seed:think", "inner_monologue"];
/** Other marks: how reasoning begins, and how it ends. Capitals do not matter. */
export const MARKS = [["[think]", "[/think]"], ["◁think▷", "◁/think▷"], ["<|begin_of_thought|>", "<|end_of_thought|>"], ["<|channel|>analysis", "<|channel|>final"]];
