"""The past of a session: its messages, as blocks."""

from typing import Any

from talaria.cli.chat.blocks import Asked, Block, Called, Said, Thought

SHOWN = 12
"""Messages of an old session that are shown."""


def recent(messages: list[dict[str, Any]], is_active: bool) -> tuple[int, list[dict[str, Any]]]:
    """How many messages are not shown, and those that are: the last ones, without what a run at work says."""
    if is_active:
        last = max((at for at, each in enumerate(messages) if each["role"] == "user"), default=-1)
        messages = messages[: last + 1]
    start = max(0, len(messages) - SHOWN)
    while start > 0 and messages[start]["role"] != "user":
        start -= 1
    return start, messages[start:]


def blocks_of(messages: list[dict[str, Any]]) -> list[Block]:
    """What messages look like: as they did when they were new."""
    blocks, calls = list[Block](), dict[str, Called]()
    for each in messages:
        content = str(each.get("content", ""))
        match each["role"]:
            case "user":
                blocks.append(Asked(content))
            case "assistant":
                if each.get("reasoning"):
                    blocks.append(Thought([(0, str(each["reasoning"]))]))
                if content:
                    blocks.append(Said([(0, content)]))
                for info in each.get("toolCalls", ()):
                    calls[info["id"]] = Called(info["id"], info["name"], info["arguments"], result="")
                    blocks.append(calls[info["id"]])
            case "tool" if (call := calls.get(str(each.get("toolCallId", "")))) is not None:
                call.result, call.is_error = content, bool(each.get("isError"))
            case _:
                pass
    return blocks
