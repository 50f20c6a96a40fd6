"""A trial of a model: asked for real for a text, a tool call and a thought; what came of it, and what to do."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from talaria.core.errors import Fault, ModelError, TalariaError
from talaria.core.messages import Text, UserMessage
from talaria.models.gateway import Gateway
from talaria.models.routes import Route
from talaria.ports.clock import Clock
from talaria.ports.model import (
    Answer,
    Downgraded,
    ModelItem,
    ModelRequest,
    Prompt,
    ReasoningDelta,
    TextDelta,
    ToolSpec,
    Transport,
)

GOOD, BAD, NOT_ASKED = "ok", "FAILED", "-"
SHOWN = 300
_COUNT = "Count from one to twenty in words, with commas in between. Say nothing else."
_ADD = "How much is 1234 and 4321? Call the tool `add`; do not work it out yourself."
_THINK = "Which number is larger, 9.11 or 9.9? Answer with the number only."
_TOOL = ToolSpec(
    "add",
    "Add two integers.",
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
)
_BY_FAULT = {
    Fault.MONEY: "top up the account, or take another key",
    Fault.RATE: "try again later; rpm and tpm keep a route below its provider's limits",
}
_BY_WORDS = (
    ("no connection", "is baseUrl right, does the server run, and can it be reached from here?"),
    ("did not begin to answer", "is the server busy, or loading the model? firstTokenTimeout gives it longer"),
    ("stopped for more than", "is a proxy in between? idleTimeout gives it longer"),
    ("ended too early", "does a proxy cut streams? Is the dialect the right one for this server?"),
    ("refused the request", "what the provider says tells what it does not take; capabilities leave that out"),
)


class Trial(msgspec.Struct):
    """How one model did: `ok`, `FAILED`, `-` (not asked), or what was seen. `notes` are sentences for the operator."""

    route: str
    model: str
    auth: str = NOT_ASKED
    stream: str = NOT_ASKED
    tool_call: str = NOT_ASKED
    thinking: str = NOT_ASKED
    first_token_ms: int | None = None
    notes: list[str] = []

    @property
    def has_failed(self) -> bool:
        """Whether anything is not as it should be."""
        return self.auth != GOOD or BAD in (self.stream, self.tool_call, self.thinking)


async def try_model(route: Route, model: str, transport: Transport, clock: Clock) -> Trial:
    """Ask a model of a route: each of its keys for a text, the first for the rest; without retries and fallbacks."""
    trial = Trial(route.prefix, model)
    first, *others = [
        _Questions(msgspec.structs.replace(route, api_keys=(key,), retries=0, fallback=()), transport, clock, trial)
        for key in route.api_keys or ("",)
    ]
    heard = await first.ask("stream", _COUNT)
    if heard is None:
        trial.stream = BAD
        return trial
    trial.auth = GOOD
    trial.stream = GOOD if heard.pieces > 1 else "in one piece"
    trial.first_token_ms = heard.first_token_ms
    for number, each in enumerate(others, 2):
        await each.ask(f"key {number}", _COUNT)
    profile = route.profile_of(model)
    if profile.tools:
        await _try_tool(first, trial)
    if profile.reasoning != "never":
        heard = await first.ask("thinking", _THINK, thinking="enabled")
        trial.thinking = BAD if heard is None else _thought(heard.answer)
    return trial


async def _try_tool(questions: "_Questions", trial: Trial) -> None:
    heard = await questions.ask("tool call", _ADD, tools=(_TOOL,))
    called = heard is not None and any(call.name == _TOOL.name for call in heard.answer.message.calls)
    trial.tool_call = GOOD if called else BAD
    if heard is not None and not called:
        trial.notes.append(
            "tool call: it answered without the tool; if it cannot call any, say so with capabilities: {tools: false}"
        )


def _thought(answer: Answer) -> str:
    return GOOD if answer.message.reasoning or answer.usage.reasoning_tokens else "not shown"


class _Heard(msgspec.Struct):
    """An answer, in how many pieces its text came, and when the first one did."""

    answer: Answer
    pieces: int
    first_token_ms: int | None


class _Questions:
    """Asks with one key of a route; what goes wrong is noted in the trial."""

    def __init__(self, route: Route, transport: Transport, clock: Clock, trial: Trial) -> None:
        self._gateway = Gateway([route], transport, clock)
        self._clock = clock
        self._trial = trial

    async def ask(
        self, what: str, text: str, *, tools: Sequence[ToolSpec] = (), thinking: Literal["enabled"] | None = None
    ) -> _Heard | None:
        """Ask; None where there is no answer."""
        prompt = Prompt("", tools, [UserMessage((Text(text),))])
        try:
            return await self._hear(ModelRequest(self._trial.model, prompt, thinking))
        except TalariaError as error:
            if isinstance(error, ModelError) and error.fault in {Fault.KEY, Fault.MONEY}:
                self._trial.auth = BAD
            self._trial.notes.append(f"{what}: {_explained(error)}")
            return None

    async def _hear(self, request: ModelRequest) -> _Heard:
        began = self._clock.now()
        first: int | None = None
        pieces = 0
        last: ModelItem | None = None
        async for items in self._gateway.stream(request):
            said = [item for item in items if isinstance(item, TextDelta | ReasoningDelta)]
            if said and first is None:
                first = self._clock.now() - began
            pieces += bool(said)
            self._trial.notes += [item.reason for item in items if isinstance(item, Downgraded)]
            last = items[-1]
        assert isinstance(last, Answer)  # that is how a stream ends
        return _Heard(last, pieces, first)


def _explained(error: TalariaError) -> str:
    """What went wrong, what the provider said, and what to do."""
    said = " ".join(error.operator.split())[:SHOWN]
    told = f"{error.message} ({said})" if said else error.message
    fault = error.fault if isinstance(error, ModelError) else Fault.NONE
    advice = _BY_FAULT.get(fault) or next((do for words, do in _BY_WORDS if words in error.message), "")
    return f"{told}; {advice}" if advice else told
