"""Grading over a Dask cluster: what travels, the workers' plugin with its warm sandbox, and the client."""
