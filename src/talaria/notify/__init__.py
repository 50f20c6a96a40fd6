"""Notices to chat rooms and programs: what waits for a person, and how runs ended, by signed webhooks."""
