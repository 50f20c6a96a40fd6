"""Built-in tools: commands, files and searches in the sandbox; data."""
