"""Events and fragments → values that grow.

builder.py    `ValueBuilder`, the sink that builds a value
document.py   text → a value: `Document`
rebuilder.py  fragments → a value: `Rebuilder`
"""
