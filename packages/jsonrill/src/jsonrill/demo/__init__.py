"""The recorded streams that `jsonrill demo` and the simulated models of the server play."""
