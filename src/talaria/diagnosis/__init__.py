"""Diagnosis: what a run did, and what about it was odd, in words. It only reads."""
