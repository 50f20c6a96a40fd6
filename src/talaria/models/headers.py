"""The headers of a request whose key is a bearer token, as most providers want it."""

from talaria.ports.model import Connection


def bearer_headers(connection: Connection) -> tuple[tuple[str, str], ...]:
    """Return the headers of a JSON request for a stream; configured ones take the place of those they name."""
    own = [("content-type", "application/json"), ("accept", "text/event-stream")]
    if connection.api_key:
        own.append(("authorization", f"Bearer {connection.api_key}"))
    if not connection.headers:
        return tuple(own)
    given = {name.lower() for name, _ in connection.headers}
    return (*(pair for pair in own if pair[0] not in given), *connection.headers)
