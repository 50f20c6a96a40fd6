"""What commands find in their environment."""

import os


def environment(workspace: str, egress: int) -> "dict[bytes, bytes]":
    """Return the agent's own, with HOME, a PATH, and the proxy where there is one."""
    found = dict(os.environb)
    found[b"HOME"] = os.fsencode(workspace)
    found.setdefault(b"PATH", b"/usr/local/bin:/usr/bin:/bin")
    found.setdefault(b"LANG", b"C.UTF-8")
    if egress:
        proxy = b"http://127.0.0.1:%d" % egress
        for name in (b"HTTP_PROXY", b"HTTPS_PROXY", b"ALL_PROXY"):
            found[name] = found[name.lower()] = proxy
        found[b"NO_PROXY"] = found[b"no_proxy"] = b"localhost,127.0.0.1,::1"
    return found
