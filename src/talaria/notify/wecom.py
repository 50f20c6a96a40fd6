"""Format `wecom`: Markdown for a group bot of WeCom.

https://developer.work.weixin.qq.com/document/path/91770: the address holds the key and nothing is signed; `content`
has at most 4096 bytes of UTF-8; 20 messages a minute; an answer of status 200 whose `errcode` is not 0 is a refusal.
Its Markdown knows no escapes, and `<@userid>` would be a mention.
"""

from talaria.notify.notice import Notice
from talaria.notify.post import Format, Post, json_post, plain
from talaria.notify.target import Target
from talaria.notify.words import words


def make(target: Target, notice: Notice, now: int) -> Post:
    """The request."""
    del now
    said = words(notice, chinese=True)
    lines = [f"### {plain(said.title)}", *(f"> **{label}** {plain(line)}" for label, line in said.lines)]
    if notice.link:
        lines.append(f"[{said.button}]({notice.link})")
    return json_post(target.url, {"msgtype": "markdown", "markdown": {"content": "\n".join(lines)}})


FORMAT = Format(make, "errcode", 3.0)
