"""Fragments: addressed changes of a document, in memory and on the wire.

fragment.py  a fragment, its place, its full and compact form
parser.py    text → fragments
"""
