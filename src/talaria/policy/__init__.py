"""The policy: which calls are allowed, asked for or denied. Pure functions of rules, tools, people and arguments."""
