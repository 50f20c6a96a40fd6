"""A durable store in one SQLite file: one process runs on it, others may read it and put letters."""
