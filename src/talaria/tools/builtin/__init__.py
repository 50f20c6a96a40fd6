"""Built-in tools that work in the session's sandbox: commands, files, searches."""
