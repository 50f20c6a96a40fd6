"""What threads and the event loop have between them."""
