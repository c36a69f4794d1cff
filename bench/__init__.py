"""jsonrill measured beside its rivals: `python -m bench` (or `make bench`) writes docs/benchmarks.

shapes        the texts, made here, the same on every machine
contestants   one adaptor for each way to read them; ours and the rivals'
measure       interleaved, best of many, processor time; memory in fresh processes
sections      what is measured: one function for each table
prefixes      correctness beside speed: what each shows for every prefix of a text
worker        runs sections in one environment and prints JSON
environments  which interpreters there are, and how a worker is started in one
targets       the figures to reach, and whether they were
report, chart results → Markdown, results → SVG
guard         `make bench-guard`: ratios against a committed baseline

Nothing here is part of the package; it imports the standard library alone, a rival only when used.
"""
