"""The Messages dialect, for Anthropic and everybody compatible."""
