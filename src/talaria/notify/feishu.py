"""Format `feishu`: a card for a custom bot of Feishu or Lark.

https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot: with signature verification on, the body has
`timestamp` (seconds, at most an hour off) and `sign`, the base64 of HMAC-SHA256 of an empty text under the key
timestamp, line feed, secret; a body has at most 20 KB; 100 requests a minute and 5 a second; an answer of status 200
whose `code` is not 0 is a refusal (19021 the signature, 19024 a missing keyword, 9499 the body). Buttons can only open
addresses. Texts are `plain_text`, in which nothing is a mention or a link.
"""

import base64
import hmac
from typing import Any

from talaria.notify.notice import Notice
from talaria.notify.post import Format, Post, json_post
from talaria.notify.target import Target
from talaria.notify.words import words

_COLOURS = {"approval_request": "orange", "question": "blue", "finish": "green", "error": "red"}


def make(target: Target, notice: Notice, now: int) -> Post:
    """The request."""
    said = words(notice, chinese=True)
    text = "\n".join(f"{label}: {line}" for label, line in said.lines)
    elements: list[dict[str, Any]] = [{"tag": "div", "text": {"tag": "plain_text", "content": text}}]
    if notice.link:
        label = {"tag": "plain_text", "content": said.button}
        button = {"tag": "button", "text": label, "type": "primary", "url": notice.link}
        elements.append({"tag": "action", "actions": [button]})
    title = {"tag": "plain_text", "content": said.title}
    card = {
        "config": {"wide_screen_mode": True},
        "header": {"title": title, "template": _COLOURS[notice.row.event]},
        "elements": elements,
    }
    return json_post(target.url, _signature(target.secret, now) | {"msg_type": "interactive", "card": card})


def _signature(secret: str, now: int) -> dict[str, Any]:
    if not secret:
        return {}
    seconds = str(now // 1000)
    sign = hmac.digest(f"{seconds}\n{secret}".encode(), b"", "sha256")
    return {"timestamp": seconds, "sign": base64.b64encode(sign).decode()}


FORMAT = Format(make, "code", 0.6)
