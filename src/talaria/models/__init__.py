"""Models: dialects without I/O, the transport, and the gateway that routes, times, retries and counts around them."""
