"""Everything that is only a demonstration.

recordings/     recorded streams, written for this project
models.py       simulated models
generations.py  simulated models that write to streams of a server
terminal.py     the three jobs in a terminal
"""
