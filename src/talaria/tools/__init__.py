"""Tools: what an agent can do, how it is declared, and the one chain that every call goes through."""
