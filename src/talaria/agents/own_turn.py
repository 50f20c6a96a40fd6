"""How far a turn of an agent of one's own is: its steps and what it said, each done once, then read of the record."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

import msgspec

from talaria.agents.attempts import Attempts
from talaria.agents.calls import by_client, settle_calls
from talaria.agents.decide import CallModel, decide
from talaria.agents.open_run import OpenRun
from talaria.agents.own import OwnGrant
from talaria.agents.room import Room
from talaria.agents.tool_step import run_tools
from talaria.core.errors import ModelError, OutputInvalid, QuotaExceeded, TalariaError
from talaria.core.messages import AssistantMessage, Message, Reasoning, Text, ToolCall, ToolMessage
from talaria.journal.entries import AgentSaid, ApprovalResolved, ModelFinished, StepFinished
from talaria.journal.history import normalise
from talaria.ports.model import (
    Answer,
    Downgraded,
    Finish,
    ModelRequest,
    Prompt,
    ReasoningDelta,
    Restart,
    TextDelta,
    ToolSpec,
)


class Left(BaseException):
    """The run ends or waits for a person: `invoke` ends here; it may begin anew later. Not to be caught."""


class OwnTurn:
    """Steps count from 1, in the order they begin; so the same `invoke` always gives a step the same number."""

    def __init__(self, session: OpenRun, own: OwnGrant) -> None:
        self.session = session
        self.own = own
        self.steps = 0
        self.spoken = 0
        self.is_left = False
        messages, run = session.state.prompt.messages, session.run
        first = next(at for at in range(len(messages), 0, -1) if messages[at - 1] is run.turn.message)
        self.messages = tuple(messages[:first])
        self._one_call = asyncio.Lock()  # a round of calls is closed before the next begins
        self._calls: dict[str, ToolCall] = {}
        self._results: dict[str, ToolMessage] = {}
        for message in messages[first:]:
            self._read(message)
        self._last_step = max([*run.steps, *(int(id_.split("_")[1]) for id_ in self._calls)], default=0)

    @property
    def is_repeating(self) -> bool:
        """Whether a later step is on record, so that all of this happened before."""
        return self.steps < self._last_step

    async def ask(
        self, messages: Sequence[Message], model: str, system: str, tools: tuple[ToolSpec, ...]
    ) -> AssistantMessage:
        """Return a model's answer."""
        session, run, step = self.session, self.session.run, self._next()
        recorded = run.steps.get(step)
        if recorded is not None:
            return recorded.message
        key, prompt = session.state.key, Prompt(system, tools, normalise(messages))
        told: list[str] = []
        answer = await self._within_quota(
            ModelRequest(model or run.turn.model, prompt, user=key.user, assistant=key.assistant, run_id=run.id), told
        )
        if self.is_left:
            raise Left
        message = settle_calls(answer.message, session)
        session.record(
            StepFinished(
                run=run.id,
                at=session.now(),
                step=step,
                message=message,
                usage=answer.usage,
                downgraded=tuple(told),
            )
        )
        await session.flush()
        return message

    async def call(self, name: str, arguments: str) -> ToolMessage:
        """Return the result of a call.

        Raises:
            OutputInvalid: another call is on record in its place.
        """
        call = ToolCall(self._call_id(self._next()), name, arguments)
        async with self._one_call:
            if self.is_left:
                raise Left
            if call.id not in self._results:
                await self._run(call)
        before = self._calls[call.id]
        if (before.name, before.arguments) != (call.name, call.arguments):
            raise _fickle(f"called '{before.name}'", f"calls '{call.name}'")
        return self._results[call.id]

    def decision(self, step: int) -> ApprovalResolved | None:
        """What a person decided about the call of a step."""
        return self.session.run.decisions.get(self._call_id(step))

    async def say(self, said: AgentSaid) -> None:
        """Tell the client something, once; returns when it is on record."""
        before = self.session.run.said
        self.spoken += 1
        if self.spoken > len(before):
            self.session.record(said)
            await self.session.flush()
        else:
            was = before[self.spoken - 1]
            if (was.kind, was.name, was.data) != (said.kind, said.name, said.data):
                raise _fickle(f"said {was.data!r:.80}", f"says {said.data!r:.80}")

    def _call_id(self, step: int) -> str:
        return f"step_{step}_{self.session.run.id[-24:]}"

    def _next(self) -> int:
        if self.is_left:
            raise Left
        self.steps += 1
        return self.steps

    async def _run(self, call: ToolCall) -> None:
        session = self.session
        session.record(answered(session, AssistantMessage((call,), session.run.turn.model), "tool_calls"))
        await run_tools(session, session.means.chain, tuple(session.run.open_calls()))
        await session.flush()  # the agent's own code goes on from here, and what it does there is its own
        for message in session.state.prompt.messages[-2:]:
            self._read(message)
        if session.run.calls or not isinstance(decide(session.state, session.now()), CallModel):
            self.is_left = True
            raise Left

    def _read(self, message: Message) -> None:
        if isinstance(message, ToolMessage):
            self._results[message.call_id] = message
        elif isinstance(message, AssistantMessage):
            self._calls |= {call.id: call for call in message.calls}

    async def _within_quota(self, request: ModelRequest, told: list[str]) -> Answer:
        """A model's answer, with what all attempts took; where a quota has no room for one, the run ends."""
        room = Room(self.session.quota)
        request = room.capped(request)
        attempts, answer = Attempts(self.session.means, request), None
        try:
            await room.take(request)
            answer = await self._answer(request, room, attempts, told)
            return msgspec.structs.replace(answer, usage=attempts.took(answer))
        except QuotaExceeded as error:
            self.session.over_quota(error)
            self.is_left = True
            raise Left from error
        finally:
            await room.settle(attempts.took(answer))

    async def _answer(self, request: ModelRequest, room: Room, attempts: Attempts, told: list[str]) -> Answer:
        async with aclosing(self.session.means.model.stream(request)) as stream:
            async for items in stream:
                attempts.said += [each for each in items if isinstance(each, (TextDelta, ReasoningDelta))]
                match items[-1]:
                    case Answer() as answer:
                        return answer
                    case Restart():
                        await room.take(request)
                        attempts.again()
                    case Downgraded(sentence):
                        self.session.tell_downgraded(sentence, told)
                    case _:
                        pass  # the agent says itself what it says
        raise ModelError("the model's stream ended without an answer")


def _fickle(before: str, now: str) -> OutputInvalid:
    return OutputInvalid(f"the agent is not deterministic: it {before} where it now {now}")


def all_said(session: OpenRun, *, incomplete: bool = False) -> AssistantMessage:
    """What the agent said in this run, as one message."""
    parts: list[Text | Reasoning] = []
    for said in session.run.said:
        kind = Text if said.kind == "token" else Reasoning
        if said.kind == "custom":
            continue
        if parts and type(parts[-1]) is kind:
            parts[-1] = kind(parts[-1].text + said.data)
        else:
            parts.append(kind(said.data))
    return AssistantMessage(tuple(parts), session.run.turn.model, incomplete)


def answered(
    session: OpenRun, message: AssistantMessage, finish: Finish, error: TalariaError | None = None
) -> ModelFinished:
    """The entry for a call or an answer of the agent's own; what is said in it was told before."""
    return ModelFinished(
        run=session.run.id,
        at=session.now(),
        round=session.run.rounds + 1,
        epoch=session.writer.epoch,
        attempt=0,
        message=message,
        finish=finish,
        error=error.code if error else "",
        error_text=error.message if error else "",
        by_client=by_client(message, session),
    )


def close_answer(session: OpenRun) -> None:
    """Put what an agent of one's own said before its run was ended into the history."""
    run = session.run
    if run.said and (run.last is None or run.last.message.calls):
        session.record(answered(session, all_said(session, incomplete=True), "stop"))
