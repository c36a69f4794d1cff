"""Benchmarks: `make bench` compares jsonrill with other libraries and writes docs/benchmarks.md."""
