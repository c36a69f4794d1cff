"""Files → shards → lines → streams."""
