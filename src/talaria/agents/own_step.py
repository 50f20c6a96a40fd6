"""A turn of an agent of one's own: a function of what is recorded, which is handed back and not done again."""

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, cast

from talaria.agents.model_step import join
from talaria.agents.open_run import OpenRun
from talaria.agents.own import AgentRequest, OwnSpec, Reply, ToolReply
from talaria.agents.tool_step import run_tools
from talaria.core.errors import InvalidRequest, ModelError, OutputInvalid, TalariaError
from talaria.core.messages import AssistantMessage, Message, Text, ToolCall, ToolMessage, UserMessage
from talaria.core.text import valid_text
from talaria.journal.entries import ModelFinished, StepFinished
from talaria.ports.model import Answer, Delta, ModelRequest, Prompt, TextDelta


class Waits(BaseException):
    """A call waits for a person: `invoke` ends here, and begins anew once there is an answer. Not to be caught."""


class _Turn:
    """The parts that one turn hands its agent, and how far it is: steps count from 1, in the order they begin."""

    def __init__(self, session: OpenRun) -> None:
        self.session = session
        self.steps = 0
        self.waits = False
        self.answers = False
        self.one_call = asyncio.Lock()  # a round of calls is closed before the next begins
        messages = session.state.prompt.messages
        self.results = {each.call_id: each for each in messages if isinstance(each, ToolMessage)}
        self.calls = {call.id: call for each in messages if isinstance(each, AssistantMessage) for call in each.calls}

    def next(self) -> int:
        if self.answers:
            raise InvalidRequest("models and tools are used before the first piece of the answer")
        self.steps += 1
        return self.steps

    async def ask(self, messages: str | Sequence[Message], *, model: str = "", system: str = "") -> AssistantMessage:
        session, step = self.session, self.next()
        recorded = session.run.steps.get(step)
        if recorded is not None:
            return recorded.message
        said = [UserMessage((Text(messages),))] if isinstance(messages, str) else messages
        turn = session.run.turn
        request = ModelRequest(
            model or turn.model, Prompt(system, (), said), user=session.state.key.user, run_id=turn.run
        )
        answer = await _answer(session, request)
        entry = StepFinished(run=turn.run, at=session.now(), step=step, message=answer.message, usage=answer.usage)
        session.record(entry)
        await session.flush()
        return answer.message

    async def call(self, name: str, /, **arguments: Any) -> ToolReply:
        call = ToolCall(
            f"step_{self.next()}_{self.session.run.id[-24:]}", name, json.dumps(arguments, ensure_ascii=False)
        )
        async with self.one_call:
            if self.waits:
                raise Waits
            if call.id not in self.results:
                await self._run(call)
            before = self.calls.get(call.id, call)
            if (before.name, before.arguments) != (call.name, call.arguments):
                raise OutputInvalid(
                    f"the agent is not deterministic: it called '{before.name}' where it now calls '{call.name}'"
                )
        result = self.results[call.id]
        return ToolReply(result.text, result.is_error)

    async def _run(self, call: ToolCall) -> None:
        session = self.session
        session.writer.attempts += 1
        session.record(finished(session, AssistantMessage((call,), session.run.turn.model), "tool_calls"))
        await run_tools(session, session.means.chain, tuple(session.run.open_calls()))
        found = next((each for each in reversed(session.state.prompt.messages) if _is_of(each, call)), None)
        if found is None or session.run.stopped is not None:
            self.waits = True
            raise Waits
        self.results[call.id] = cast("ToolMessage", found)


async def invoke(session: OpenRun, spec: OwnSpec) -> None:
    """Run the agent from the beginning; what it asked before is answered from the record."""
    await session.flush()
    await spec.initialize(tuple(session.tools))
    turn = _Turn(session)
    said: list[Delta] = []
    try:
        await _answer_in(turn, spec, said)
        if not turn.waits:
            session.record(finished(session, AssistantMessage(join(said), session.run.turn.model), "stop"))
    except Waits:
        return
    except asyncio.CancelledError:
        if session.is_interrupted and said:
            message = AssistantMessage(join(said), session.run.turn.model, incomplete=True)
            session.record(finished(session, message, "stop"))
        raise
    except TalariaError as error:
        message = AssistantMessage(join(said), session.run.turn.model, incomplete=True)
        session.record(finished(session, message, "stop", error))
    except Exception:
        if said:  # clients have had it
            message = AssistantMessage(join(said), session.run.turn.model, incomplete=True)
            session.record(finished(session, message, "stop"))
        raise


async def _answer_in(turn: _Turn, spec: OwnSpec, said: list[Delta]) -> None:
    session, run = turn.session, turn.session.run
    parts = {"models": turn, "tools": turn}
    query = "".join(part.text for part in run.turn.message.parts if isinstance(part, Text))
    request = AgentRequest(
        query=query,
        run_id=run.id,
        principal=session.principal,
        labels=dict(run.turn.labels),
        parts={name: part for name, part in parts.items() if name in spec.agent.needs},
    )
    answer: Any = spec.agent.invoke(request, session.session)
    if inspect.isawaitable(answer):
        answer = await answer
    if turn.waits:
        return
    async for piece in _pieces(answer):
        if not turn.answers:
            turn.answers = True
            session.writer.attempts += 1
            session.live.begin(session.writer.epoch, session.writer.attempts)
        if piece:
            said.append(TextDelta(piece))
            session.live.say(said[-1:])


async def _pieces(answer: Any) -> AsyncIterator[str]:
    if isinstance(answer, Reply):
        yield valid_text(answer.text)
    elif isinstance(answer, AsyncIterator):
        async for piece in cast("AsyncIterator[str]", answer):
            yield valid_text(piece)
    else:
        raise OutputInvalid(f"the agent returned {type(answer).__name__}; return a Reply, or yield text")


async def _answer(session: OpenRun, request: ModelRequest) -> Answer:
    async with aclosing(session.means.model.stream(request)) as stream:
        async for items in stream:
            if isinstance(items[-1], Answer):
                return items[-1]
    raise ModelError("the model's stream ended without an answer")


def finished(
    session: OpenRun, message: AssistantMessage, finish: Any, error: TalariaError | None = None
) -> ModelFinished:
    """The entry for a step of the agent's own in the conversation."""
    return ModelFinished(
        run=session.run.id,
        at=session.now(),
        round=session.run.rounds + 1,
        epoch=session.writer.epoch,
        attempt=session.writer.attempts,
        message=message,
        finish=finish,
        error=error.code if error else "",
        error_text=error.message if error else "",
    )


def _is_of(message: Message, call: ToolCall) -> bool:
    return isinstance(message, ToolMessage) and message.call_id == call.id
