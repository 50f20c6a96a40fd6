"""AskUser: the built-in tool with which a model asks the user something and waits for the answer."""

from typing import Any

from talaria.tools.declaration import Tool


async def _answered(question: str, choices: list[str] | None = None, *, answer: str = "") -> str:
    """What the model gets; the approval stage adds the answer, which the model cannot give itself."""
    del question, choices
    return f"The user answered:\n{answer}"


ASK_USER: Tool[..., Any] = Tool(
    "AskUser",
    "Ask the user a question and wait for the answer. Only for what you need to go on and cannot find out yourself.",
    {
        "type": "object",
        "properties": {
            "question": {"type": "string", "minLength": 1, "description": "One question, complete in itself."},
            "choices": {
                "type": "array",
                "items": {"type": "string", "minLength": 1},
                "description": "Likely answers to choose from; the user may also answer in other words.",
            },
        },
        "required": ["question"],
        "additionalProperties": False,
    },
    _answered,
    side_effects=False,
    parallel=False,
    source="builtin",
)
"""It waits in line with calls that have side effects, so that those behind it wait for the answer."""

UNANSWERED = {
    "declined": "Not answered: the user does not want to answer this question.",
    "expired": "Not answered: nobody answered this question in time.",
    "cancelled": "Not answered: the run was cancelled while this question was open.",
    "superseded": "Not answered: the user sent a new message while this question was open.",
}
