"""Format `slack`: blocks for an incoming webhook of Slack.

https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks: the address is the key and nothing is signed;
refusals have a status of their own. https://docs.slack.dev/apis/web-api/rate-limits: one message a second, else 429
with Retry-After. https://docs.slack.dev/reference/block-kit/blocks: a header has at most 150 characters, a section
3000. https://docs.slack.dev/messaging/formatting-message-text: `&`, `<` and `>` are escaped in mrkdwn; in `plain_text`
nothing is a mention or a link. The link is text: a button would call back an application that need not be there.
"""

from typing import Any

from talaria.notify.notice import Notice, cut
from talaria.notify.post import Format, Post, json_post
from talaria.notify.target import Target
from talaria.notify.words import words

HEADER, SECTION = 150, 3000


def make(target: Target, notice: Notice, now: int) -> Post:
    """The request."""
    del now
    said = words(notice)
    text = "\n".join(f"{label}: {line}" for label, line in said.lines)
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": _plain(cut(said.title, HEADER))},
        {"type": "section", "text": _plain(cut(text, SECTION))},
    ]
    if notice.link:
        link = f"<{_escaped(notice.link)}|{said.button}>"
        blocks.append({"type": "section", "text": {"type": "mrkdwn", "text": link}})
    document = {"text": _escaped(said.title), "blocks": blocks, "unfurl_links": False, "unfurl_media": False}
    return json_post(target.url, document)


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


FORMAT = Format(make, spacing=1.0)
