"""The scripted model of the demo: an analyst that writes an operations report from what its tools tell it."""
