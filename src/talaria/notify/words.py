"""What is said in a chat room: a title and a few lines, cut short, in English or in Chinese and English."""

from datetime import UTC, datetime
from typing import NamedTuple

from talaria.notify.notice import Event, Notice, cut

ARGUMENTS = 600
"""Characters of arguments in a message for people."""
NAME = 100

_TITLES: dict[Event, tuple[str, str]] = {
    "approval_request": ("待审批", "Approval needed"),
    "question": ("等待回答", "Question"),
    "finish": ("运行结束", "Run finished"),
    "error": ("运行失败", "Run failed"),
}
_CHINESE = {
    "Tool": "工具",
    "Arguments": "参数",
    "User": "用户",
    "Agent": "智能体",
    "Reason": "原因",
    "Message": "信息",
    "Tokens": "用量",
    "Expires": "截止",
    "Run": "运行",
    "Decide": "去审批",
}


class Words(NamedTuple):
    """What is said: the title, lines of a label and a text, and what the link is called."""

    title: str
    lines: tuple[tuple[str, str], ...]
    button: str


def words(notice: Notice, *, chinese: bool = False) -> Words:
    """Put a notice into words; no text has line breaks, and all of it is short."""
    pairs = [(label, one_line(text)) for label, text in _facts(notice) if text]
    title = _TITLES[notice.row.event]
    named = f"{title[0]} {title[1]}" if chinese else title[1]
    if notice.asked is not None:
        named += f": {one_line(cut(notice.asked.tool, NAME))}"
    lines = tuple((_label(label, chinese=chinese), text) for label, text in pairs)
    return Words(named, lines, _label("Decide", chinese=chinese))


def one_line(text: str) -> str:
    """A text without line breaks."""
    return " ".join(text.split())


def clock_time(ms: int) -> str:
    """A time for people, in UTC."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _label(label: str, *, chinese: bool) -> str:
    return f"{_CHINESE[label]} {label}" if chinese else label


def _facts(notice: Notice) -> list[tuple[str, str]]:
    row, asked = notice.row, notice.asked
    who = [("User", cut(notice.key.user, NAME)), ("Agent", cut(row.agent, NAME)), ("Run", cut(row.run, NAME))]
    if asked is not None:
        call = [("Tool", cut(asked.tool, NAME)), ("Arguments", cut(asked.arguments, ARGUMENTS))]
        return [*call, *who, ("Expires", clock_time(asked.expires_at))]
    tokens = f"{row.usage.input_tokens} + {row.usage.output_tokens}"
    return [*who, ("Reason", row.reason), ("Message", cut(row.message, ARGUMENTS)), ("Tokens", tokens)]
