"""Seeing what happens: logs, and transcripts of every round. It only reads."""
