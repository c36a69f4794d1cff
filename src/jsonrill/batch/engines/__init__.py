"""Who does the shards: this process, worker processes, or Dask."""
