"""Recorded streams for the demo, written for this project."""
