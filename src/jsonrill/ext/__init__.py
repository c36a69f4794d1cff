"""Adapters for frameworks, one module each, which needs nothing but that framework."""
