"""A client's history may be as long as a request body: making it valid takes one pass."""

from talaria.core.messages import AssistantMessage, Message, ToolCall, ToolMessage
from talaria.journal.history import normalise


def test_a_history_as_long_as_a_body_is_made_valid_at_once() -> None:
    pairs = 50_000  # pair by pair against all that follows, this takes minutes
    messages: list[Message] = []
    for number in range(pairs):
        messages += (
            AssistantMessage((ToolCall(f"c{number}", "tool"),)),
            ToolMessage(f"c{number}", "tool", str(number)),
        )
    assert normalise([*messages[::2], *messages[1::2]]) == messages
