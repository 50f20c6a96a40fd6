"""The headers of a file: a browser may show it, and whatever is in it gets nothing of this server."""

from talaria.artifacts.artifact import Artifact
from talaria.artifacts.names import disposition

SHOWN = frozenset(("text/html", "text/plain", "application/pdf"))
"""What is shown in a browser, beside pictures, sound and films; all else is saved."""
SHOWN_KINDS = ("image/", "audio/", "video/")
RUNS = frozenset(("text/html", "image/svg+xml", "application/xhtml+xml", "application/xml", "text/xml"))
"""What may have scripts. They run in an origin of their own, which has no cookies and may ask this server nothing."""
SANDBOX = "sandbox allow-scripts"
INERT = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src 'self'; sandbox"


def file_headers(artifact: Artifact, *, as_attachment: bool = False) -> dict[str, str]:
    """Return the headers of a file, whichever part of it is sent."""
    kind = artifact.media_type
    is_shown = not as_attachment and (kind in SHOWN or kind.startswith(SHOWN_KINDS))
    headers = {
        "Content-Type": f"{kind}; charset={artifact.charset}" if artifact.charset else kind,
        "Content-Disposition": disposition("inline" if is_shown else "attachment", artifact.name),
        "Accept-Ranges": "bytes",
        "ETag": f'"{artifact.digest[:32]}"',
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "private, no-cache",
    }
    if kind in RUNS:
        headers["Content-Security-Policy"] = SANDBOX
    elif kind != "application/pdf":  # browsers show none in a sandbox
        headers["Content-Security-Policy"] = INERT
    return headers
