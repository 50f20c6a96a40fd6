"""Logins: who a request comes from, out of its credential."""
