"""A model in the same process that says what a script tells it to; what was not said as told fails loudly."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from typing import Any

import msgspec

from talaria.core.errors import ModelError, StreamTruncated
from talaria.core.messages import AssistantMessage, AssistantPart, Reasoning, Text, ToolCall
from talaria.core.usage import Usage
from talaria.journal.transcript import wire_message
from talaria.ports.model import Answer, Finish, ModelItem, ModelRequest, ReasoningDelta, Restart, TextDelta


class Call(msgspec.Struct, frozen=True, gc=False):
    """A call the model decides on; `arguments` as a value, or as the very text. An empty id is minted by the script."""

    name: str
    arguments: Any = msgspec.field(default_factory=dict[str, Any])
    id: str | None = None


class Say(msgspec.Struct, frozen=True, gc=False):
    """One answer: reasoning, text, calls. `chunk` characters a delta, 0 for all at once.

    `gate`: an event that is waited for before the text's last delta, so a test can act in the middle of an answer.
    `finish` as the provider would say it; default by whether there are calls.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    chunk: int = 0
    gate: asyncio.Event | None = None
    finish: Finish | None = None
    usage: Usage = Usage(10, 5)
    cut_calls: int = 0


class Restarted(msgspec.Struct, frozen=True, gc=False):
    """The attempt so far (`said`) is void, as after a retry; then `then` is the answer."""

    said: str
    then: Say
    reason: str = "The model could not be reached or did not answer in time; it is asked again."


class Cut(msgspec.Struct, frozen=True, gc=False):
    """The stream ends too early, after `text`."""

    text: str = ""
    reasoning: str = ""


class Fail(msgspec.Struct, frozen=True, gc=False):
    """There will be no answer."""

    error: ModelError


SHOWN = 500
"""Characters of a message that are shown when a script does not fit."""

Step = Say | Call | Restarted | Cut | Fail
Script = Callable[[ModelRequest], Step]
_Moment = Sequence[ModelItem] | asyncio.Event | ModelError


class ScriptedModel:
    """A `Model`. Answers with one step a request, in order, or with what a function makes of the request.

    `requests` are all requests so far, `prompts` the messages each of them had. Call `check()` at the end of a test.
    """

    def __init__(self, *steps: Step, script: Script | None = None) -> None:
        self._steps = list(steps)
        self._script = script
        self._unexpected: list[str] = []
        self._minted = 0
        self._changed = asyncio.Event()
        self.requests: list[ModelRequest] = []
        self.prompts: list[tuple[object, ...]] = []
        self.closed_early = 0

    def check(self) -> None:
        """Fail when steps were left over, or when more was asked than scripted.

        Raises:
            AssertionError: says which.
        """
        count, asked = len(self._unexpected), "\n- ".join(("", *self._unexpected))
        assert not count, f"the model was asked {count} more times than scripted:{asked}"
        last = _asked(self.requests[-1]) if self.requests else "nothing"
        assert not self._steps, (
            f"{len(self._steps)} steps were never asked for; the next one is {self._steps[0]!r}; "
            f"the model was last asked {last}"
        )

    async def wait_until(self, condition: Callable[[], bool], limit: float = 5.0) -> None:
        """Wait until the condition holds; it is looked at whenever the model is asked or let go.

        Raises:
            TimeoutError: it does not within `limit` seconds.
        """
        async with asyncio.timeout(limit):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[ModelItem], None]:
        """Answer; see the port."""
        self.requests.append(request)
        self.prompts.append(tuple(request.prompt.messages))
        self._changed.set()
        is_over = False
        try:
            for moment in self._plan(self._next(request), request.model):
                if isinstance(moment, asyncio.Event):
                    await moment.wait()
                elif isinstance(moment, ModelError):
                    raise moment
                else:
                    is_over = isinstance(moment[-1], Answer)
                    yield moment
        except (GeneratorExit, asyncio.CancelledError):
            self.closed_early += not is_over
            raise
        finally:
            self._changed.set()

    def _next(self, request: ModelRequest) -> Step:
        if self._script is not None:
            return self._script(request)
        if not self._steps:
            self._unexpected.append(_asked(request))
            raise AssertionError(f"the model was asked more often than scripted: {self._unexpected[-1]}")
        return self._steps.pop(0)

    def _plan(self, step: Step, model: str) -> list[_Moment]:
        match step:
            case Fail():
                return [step.error]
            case Cut():
                cut = StreamTruncated("the model provider's answer ended too early")
                return [*_said(Say(step.text, step.reasoning)), cut]
            case Restarted():
                return [[TextDelta(step.said)], [Restart(step.reason)], *self._plan(step.then, model)]
            case Call():
                return self._plan(Say(calls=(step,)), model)
            case Say():
                said = _said(step)
                if step.gate is not None:
                    said.insert(max(len(said) - 1, 0), step.gate)
                return [*said, [self._answer(step, model)]]

    def _answer(self, say: Say, model: str) -> Answer:
        parts: list[AssistantPart] = []
        if say.reasoning:
            parts.append(Reasoning(say.reasoning, "scripted"))
        if say.text:
            parts.append(Text(say.text))
        parts += [self._call(call) for call in say.calls]
        finish = say.finish or ("tool_calls" if say.calls else "stop")
        return Answer(AssistantMessage(tuple(parts), model), finish, say.usage, say.cut_calls)

    def _call(self, call: Call) -> ToolCall:
        self._minted += 1
        id_ = f"scripted_{self._minted}" if call.id is None else call.id
        text = call.arguments if isinstance(call.arguments, str) else msgspec.json.encode(call.arguments).decode()
        return ToolCall(id_, call.name, text)


def _asked(request: ModelRequest) -> str:
    """What a request asks, in short: the newest message, and the tools there are."""
    messages = request.prompt.messages
    shown = msgspec.json.encode(wire_message(messages[-1])).decode()[:SHOWN] if messages else "without a message"
    return (
        f"{shown} (message {len(messages)}, tools: {', '.join(tool.name for tool in request.prompt.tools) or 'none'})"
    )


def _said(say: Say) -> list[_Moment]:
    deltas: list[_Moment] = [[ReasoningDelta(piece)] for piece in _pieces(say.reasoning, say.chunk)]
    return [*deltas, *([TextDelta(piece)] for piece in _pieces(say.text, say.chunk))]


def _pieces(text: str, size: int) -> Iterable[str]:
    size = size or max(len(text), 1)
    return (text[start : start + size] for start in range(0, len(text), size))
