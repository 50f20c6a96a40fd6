"""Coercion: values that say what the schema wants in another form become that form; nothing is guessed."""
