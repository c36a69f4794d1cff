"""The output of a run: its folder, rows, summary and report."""
