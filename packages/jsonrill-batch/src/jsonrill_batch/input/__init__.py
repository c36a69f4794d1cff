"""Files → lines → streams."""
