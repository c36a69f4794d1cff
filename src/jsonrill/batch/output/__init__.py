"""What a run leaves: rows, records, counts and the report."""
