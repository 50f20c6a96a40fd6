"""Stores: where journals, indexes, letters and blobs are kept. `memory` forgets, `sqlite` is one durable file."""
