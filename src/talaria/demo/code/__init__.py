"""The demos in which an agent writes code and runs it in a sandbox: a chart of a table, and a game."""
