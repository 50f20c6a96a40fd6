"""The demonstration: an agent writes the daily operations report, and the report is checked."""
