/**
 * The table of `split`, written by tools/split_table.py from src/jsonrill/answers/split.py: change
 * it there. `reader` and `accepts` name functions of `splitter.js`, and what they are made with.
 */

/**
 * @typedef {{name: string, opening: string, reader: string[], accepts: string[], atLine: boolean,
 *   surely: boolean}} Tag
 */

/** @type {readonly Tag[]} */
export const TAGS = [
  {"name": "think", "opening": "<think>", "reader": ["reasoning", "</think>"], "accepts": ["anything"], "atLine": true, "surely": true},
  {"name": "think", "opening": "<thinking>", "reader": ["reasoning", "</thinking>"], "accepts": ["anything"], "atLine": true, "surely": true},
  {"name": "think", "opening": "[THINK]", "reader": ["reasoning", "[/THINK]"], "accepts": ["anything"], "atLine": false, "surely": true},
  {"name": "think", "opening": "◁think▷", "reader": ["reasoning", "◁/think▷"], "accepts": ["anything"], "atLine": false, "surely": true},
  {"name": "fence", "opening": "```", "reader": ["fence"], "accepts": ["json fence"], "atLine": true, "surely": true},
  {"name": "json", "opening": "<json>", "reader": ["json", "</json>"], "accepts": ["after space", "{", "["], "atLine": false, "surely": true},
  {"name": "hermes", "opening": "<tool_call>", "reader": ["tool call"], "accepts": ["names a call"], "atLine": false, "surely": true},
  {"name": "mistral", "opening": "[TOOL_CALLS]", "reader": ["mistral"], "accepts": ["mistral call"], "atLine": false, "surely": true},
  {"name": "llama", "opening": "<|python_tag|>", "reader": ["llama"], "accepts": ["after space", "{", "["], "atLine": false, "surely": true},
  {"name": "llama", "opening": "<function=", "reader": ["function"], "accepts": ["function name"], "atLine": false, "surely": true},
  {"name": "deepseek", "opening": "<｜tool▁calls▁begin｜>", "reader": ["deepseek", "<｜tool▁calls▁end｜>"], "accepts": ["after space", "<｜tool▁call▁begin｜>", "<｜tool▁calls▁end｜>"], "atLine": false, "surely": true},
  {"name": "deepseek", "opening": "<｜DSML｜function_calls>", "reader": ["invokes", "｜DSML｜function_calls", "｜DSML｜"], "accepts": ["after space", "<｜DSML｜invoke "], "atLine": false, "surely": true},
  {"name": "deepseek", "opening": "<｜DSML｜tool_calls>", "reader": ["invokes", "｜DSML｜tool_calls", "｜DSML｜"], "accepts": ["after space", "<｜DSML｜invoke "], "atLine": false, "surely": true},
  {"name": "kimi", "opening": "<|tool_calls_section_begin|>", "reader": ["kimi"], "accepts": ["after space", "<|tool_call_begin|>", "<|tool_calls_section_end|>"], "atLine": false, "surely": true},
  {"name": "granite", "opening": "<|tool_call|>", "reader": ["objects"], "accepts": ["object in list"], "atLine": false, "surely": true},
  {"name": "internlm", "opening": "<|action_start|><|plugin|>", "reader": ["objects", "<|action_end|>"], "accepts": ["after space", "{"], "atLine": false, "surely": true},
  {"name": "minimax", "opening": "<minimax:tool_call>", "reader": ["invokes", "minimax:tool_call"], "accepts": ["after space", "<invoke "], "atLine": false, "surely": true},
  {"name": "minimax", "opening": "<tool_calls>", "reader": ["objects", "</tool_calls>"], "accepts": ["after space", "{", "["], "atLine": false, "surely": true},
  {"name": "invoke", "opening": "<function_calls>", "reader": ["invokes", "function_calls"], "accepts": ["after space", "<invoke "], "atLine": false, "surely": true},
  {"name": "open-think", "opening": "", "reader": ["open reasoning", "</think>"], "accepts": ["anything"], "atLine": false, "surely": false},
  {"name": "pythonic", "opening": "[", "reader": ["pythonic"], "accepts": ["python call"], "atLine": true, "surely": false},
];
