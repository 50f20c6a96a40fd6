"""Databases that models may read: statements are checked, and run where nothing can be written."""
