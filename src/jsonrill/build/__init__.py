"""Values that grow: `rebuilder.py` makes them of fragments, `document.py` of text."""
