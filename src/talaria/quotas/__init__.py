"""Quotas: how much tenants, agents, users and tools may use. Room is taken before, and settled after."""
