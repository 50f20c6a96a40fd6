"""What is known of families of models, a provider a module: rows of facts, each with where they come from."""
