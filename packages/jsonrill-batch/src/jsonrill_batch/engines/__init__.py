"""Engines do the shards: in this process, in worker processes, or on Dask."""
