"""Streaming JSON in both directions, for programs that talk to language models."""

__all__: list[str] = []
