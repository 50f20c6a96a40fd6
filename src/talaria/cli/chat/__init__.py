"""`talaria chat`: talk to agents in a terminal, on a running server or on one of its own."""
