"""Why an answer ended, in the words of providers."""

from talaria.ports.model import Finish

FINISH: dict[str, Finish] = {
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "eos"), "stop"),
    **dict.fromkeys(("tool_calls", "function_call", "tool_use"), "tool_calls"),
    **dict.fromkeys(("length", "max_tokens", "model_length", "max_output_tokens"), "length"),
    **dict.fromkeys(("content_filter", "safety", "sensitive", "recitation", "blocklist"), "content_filter"),
}
"""Words in lower case, and what they mean here."""


def settled(finish: Finish, *, calls: bool, cut: int) -> Finish:
    """Return why an answer ended, given whether it has calls and how many were cut off: these have the last word."""
    if calls:
        return "tool_calls"
    if finish == "tool_calls":
        return "length" if cut else "stop"
    return finish
