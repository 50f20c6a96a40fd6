"""Files that people hand over and get: what they are called, of which type they are, whose they are, how long."""
