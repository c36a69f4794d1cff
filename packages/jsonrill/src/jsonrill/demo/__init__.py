"""The demo in a terminal, and the recorded streams that it and the simulated models play.

recordings/  recorded streams, written for this project
terminal.py  the three jobs in a terminal
"""
