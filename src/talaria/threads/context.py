"""The context of callbacks that need none: without one, every timer keeps a copy of its maker's."""

from contextvars import Context

NO_CONTEXT = Context()
