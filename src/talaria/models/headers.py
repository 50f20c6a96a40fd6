"""The headers of a request."""

from talaria.ports.model import Connection

Headers = tuple[tuple[str, str], ...]


def stream_headers(connection: Connection, own: Headers) -> Headers:
    """Return the headers of a JSON request for a stream; configured ones take the place of those they name."""
    own = (("content-type", "application/json"), ("accept", "text/event-stream"), *own)
    given = {name.lower() for name, _ in connection.headers}
    return (*(pair for pair in own if pair[0] not in given), *connection.headers)


def bearer_headers(connection: Connection) -> Headers:
    """Return the headers where the key is a bearer token, as most providers want it."""
    return stream_headers(
        connection, (("authorization", f"Bearer {connection.api_key}"),) if connection.api_key else ()
    )
