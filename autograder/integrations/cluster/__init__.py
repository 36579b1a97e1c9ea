"""Grading over a Dask cluster: the client, the workers' plugin with its warm sandbox, and what travels between them."""
