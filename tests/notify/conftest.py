"""Both stores."""

from tests.runtime.conftest import store

__all__ = ["store"]
