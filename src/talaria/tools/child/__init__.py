"""Tools in a process of their own: what goes there and comes back, the guard, the worker, and their lifetime."""
