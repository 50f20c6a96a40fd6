"""Live streams: what a run says, kept once, read by any number of cursors."""
