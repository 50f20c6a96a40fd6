"""The page behind a link that decides: what is asked, and two buttons. Only pressing one decides.

It loads nothing and runs nothing. Programs that look at links in chat rooms ask for it too, so asking changes nothing.
"""

import base64
from functools import cache
from hashlib import sha256
from html import escape

from starlette.responses import Response

from talaria.core.errors import Conflict, Forbidden, InvalidRequest, NotFound
from talaria.notify.notice import Asked
from talaria.notify.words import clock_time
from talaria.runtime.links import LinkOver
from talaria.server.call import Call

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f3f3f3;padding:1rem}"
    "form{display:inline}button{font:inherit;padding:.5rem 1.5rem;margin-right:1rem}"
)
OUTCOMES = {
    "approved": "已同意 · Approved",
    "declined": "已拒绝 · Declined",
    "edited": "已修改并同意 · Approved with changes",
    "expired": "已过期 · Expired",
    "cancelled": "已取消 · Cancelled",
    "superseded": "已取代 · Superseded",
}
OVER = "此链接无效或已失效 · This link is not valid, or not any more"


async def decide_page(call: Call) -> Response:
    """What a link asks, with a button for each decision."""
    try:
        link, asked = await call.parts.links.read(call.path("token"))
    except NotFound as error:
        return _over(error)
    return _page(_question(asked, link.principal.user))


async def decide_by_link(call: Call) -> Response:
    """Decide through a link; the answer says what is in force."""
    decision = call.query("decision")
    if decision not in ("approve", "decline"):
        raise InvalidRequest("decision must be approve or decline")
    try:
        outcome = await call.parts.links.decide(call.path("token"), approve=decision == "approve")
    except Conflict as conflict:
        return _page(_said(OUTCOMES.get(str(conflict.current.get("decision")), OVER)), 409)
    except (NotFound, Forbidden) as error:
        return _over(error)
    return _page(_said(OUTCOMES.get(outcome, outcome)))


def _question(asked: Asked, user: str) -> str:
    until = clock_time(asked.expires_at)
    facts = f"以 {escape(user)} 的身份决定，截止 {until} · You decide as {escape(user)}, until {until}"
    buttons = "".join(
        f'<form method="post" action="?decision={name}"><button>{label}</button></form>'
        for name, label in (("approve", "同意 · Approve"), ("decline", "拒绝 · Decline"))
    )
    call = f"<p><b>{escape(asked.tool)}</b></p><pre>{escape(asked.arguments)}</pre>"
    return f"<h1>是否执行？ · May this run?</h1>{call}<p>{facts}</p>{buttons}"


def _said(text: str) -> str:
    return f"<h1>{escape(text)}</h1>"


def _over(error: NotFound | Forbidden) -> Response:
    """The same words for all that is wrong with a link: they tell nothing to whoever tries."""
    return _page(_said(OVER), 410 if isinstance(error, LinkOver) else 404)


def _page(body: str, status: int = 200) -> Response:
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><style>{STYLE}</style>'
    document = f'<!doctype html><html lang="zh"><head>{head}<title>Talaria</title></head><body>{body}</body></html>'
    return Response(document, status, _headers(), "text/html")


@cache
def _headers() -> dict[str, str]:
    digest = base64.b64encode(sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'self'; frame-ancestors 'none'"
    return {
        "Content-Security-Policy": f"{policy}; base-uri 'none'",
        "Referrer-Policy": "no-referrer",
        "X-Robots-Tag": "noindex, nofollow",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }
