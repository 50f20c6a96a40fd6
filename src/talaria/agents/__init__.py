"""The tool-calling agent: decide, act, record."""
