"""Format `dingtalk`: an action card, or Markdown where there is no link, for a custom bot of DingTalk.

https://open.dingtalk.com/document/robots/custom-robot-access and …/robots/customize-robot-security-settings: the query
has `timestamp` (ms, at most an hour off) and `sign`, the base64 of HMAC-SHA256 of timestamp, line feed, secret under
the key `secret`; 20 messages a minute, or the bot is silenced for 10 minutes; an answer of status 200 whose `errcode`
is not 0 is a refusal. Its Markdown knows no escapes; mentions need a field of their own.
"""

import base64
import hmac
from typing import Any
from urllib.parse import quote_plus

from talaria.notify.notice import Notice
from talaria.notify.post import Format, Post, json_post, plain
from talaria.notify.target import Target
from talaria.notify.words import words


def make(target: Target, notice: Notice, now: int) -> Post:
    """The request."""
    said = words(notice, chinese=True)
    title = plain(said.title)
    text = "\n\n".join((f"### {title}", *(f"**{label}** {plain(line)}" for label, line in said.lines)))
    message: dict[str, Any] = {"msgtype": "markdown", "markdown": {"title": title, "text": text}}
    if notice.link:
        card = {"title": title, "text": text, "singleTitle": said.button, "singleURL": notice.link}
        message = {"msgtype": "actionCard", "actionCard": card}
    return json_post(_signed(target, now), message)


def _signed(target: Target, now: int) -> str:
    if not target.secret:
        return target.url
    sign = base64.b64encode(hmac.digest(target.secret.encode(), f"{now}\n{target.secret}".encode(), "sha256"))
    joint = "&" if "?" in target.url else "?"
    return f"{target.url}{joint}timestamp={now}&sign={quote_plus(sign)}"


FORMAT = Format(make, "errcode", 3.0)
