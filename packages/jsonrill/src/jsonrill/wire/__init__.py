"""Fragments: addressed changes of a document, in memory and on the wire.

fragment.py  a fragment, and the check of what it carries
cursor.py    document order: where the next fragment must be
foreign.py   the dialect of another generator
full.py      the full form: JSON objects
compact.py   the compact form: short JSON arrays
reader.py    any of these → checked fragments
parser.py    text → fragments, fragments → events
"""
