"""Memory: what agents keep of a user from session to session, as a few small files of text."""
