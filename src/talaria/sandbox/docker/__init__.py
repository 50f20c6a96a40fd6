"""Sandboxes as containers of Docker, or of what speaks its API."""
