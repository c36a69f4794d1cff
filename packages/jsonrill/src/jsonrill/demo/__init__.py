"""The demo in a terminal (`terminal.py`), and the recorded streams that it plays.

The simulated models of the server play the same recordings.
"""
