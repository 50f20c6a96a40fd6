"""The system that is seen inside sandboxes: made here, without any registry of images."""
