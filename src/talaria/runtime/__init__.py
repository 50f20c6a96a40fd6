"""Puts the parts together: settings, the local engine, admission, recovery. The only importer of adapters."""
