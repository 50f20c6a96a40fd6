"""A session is its journal: entries, the fold that makes state of them, the one writer, and views."""
