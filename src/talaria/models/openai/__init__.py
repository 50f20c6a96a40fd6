"""The chat-completions dialect, for OpenAI and everybody compatible."""
