"""Cross-origin requests: which pages of other origins may talk to this server."""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from talaria.runtime.previews import PATH

EXPOSED = "X-Run-Id, X-Session-Id, Retry-After"
ALLOWED = {
    "Access-Control-Allow-Methods": "GET, POST, DELETE",
    "Access-Control-Allow-Headers": "Content-Type, Authorization, Last-Event-ID",
    "Access-Control-Max-Age": "600",
}


class Cors:
    """Says which headers an answer gets. It never wraps `send`: a stream pays for it once, not for each event."""

    def __init__(self, origins: Sequence[str]) -> None:
        self._origins = frozenset(origins)

    def headers(self, request: Request) -> dict[str, str]:
        """The headers that let the page of this request read the answer; none for pages that may not."""
        if not self._origins:
            return {}
        origin = request.headers.get("origin", "")
        if "*" in self._origins:
            return {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": EXPOSED}
        if origin not in self._origins:
            return {"Vary": "Origin"}
        return {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Expose-Headers": EXPOSED,
            "Access-Control-Allow-Credentials": "true",
            "Vary": "Origin",
        }

    def preflight(self, request: Request) -> Response | None:
        """The answer to a preflight request, or None if this is none, or is for a preview, which has other rules."""
        if (
            PATH in request.scope["path"]
            or request.method != "OPTIONS"
            or "access-control-request-method" not in request.headers
        ):
            return None
        allowed = self.headers(request)
        is_allowed = "Access-Control-Allow-Origin" in allowed
        return Response(status_code=204 if is_allowed else 403, headers=allowed | (ALLOWED if is_allowed else {}))
