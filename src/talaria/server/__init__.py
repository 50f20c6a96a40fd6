"""The HTTP face of a runtime: endpoints, event streams, problem documents, OpenAPI."""
