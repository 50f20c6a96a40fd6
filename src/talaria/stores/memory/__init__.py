"""A store in memory: for tests, benchmarks and trying things out. It forgets when it is closed."""
