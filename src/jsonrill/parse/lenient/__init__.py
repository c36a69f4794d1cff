"""Near-JSON: the machine with rules for what models write instead of JSON.

rules.py      the rules, each with its reason and an example
lookahead.py  what the next characters may become
around.py     text, fences and thoughts around the value
inside.py     what is repaired inside the value
"""
