"""Events → values: the one builder, and `Document` on it."""
