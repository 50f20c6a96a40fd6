"""What the recorder is made of: masks, the setting of a test, the script, the module."""
