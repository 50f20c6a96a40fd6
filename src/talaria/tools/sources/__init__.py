"""Where tools come from that are not functions of this program: outside platforms, and the caller."""
