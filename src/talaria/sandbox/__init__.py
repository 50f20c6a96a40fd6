"""Sandboxes: what runs inside, how the two kinds are launched, and which session has which."""
