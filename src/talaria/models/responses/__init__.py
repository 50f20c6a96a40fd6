"""The Responses dialect of OpenAI, and of servers that speak it too."""
