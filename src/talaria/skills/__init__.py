"""Skills (agentskills.io): instructions with files, kept by their content, loaded when a model wants them."""
