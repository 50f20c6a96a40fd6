"""The mapped dialect: protocols that nobody else speaks, described in configuration."""
