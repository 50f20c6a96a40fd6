"""One model call: ask, pass on what comes, record the answer."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import cast

from structlog.contextvars import bind_contextvars

from talaria.agents.attempts import Attempts
from talaria.agents.calls import by_client, settle_calls
from talaria.agents.open_run import OpenRun
from talaria.agents.room import Room
from talaria.core.errors import ModelError, QuotaExceeded, TalariaError
from talaria.core.events import ChatEvent
from talaria.core.messages import AssistantMessage, AssistantPart, Reasoning, Text
from talaria.core.usage import Usage
from talaria.journal.entries import ModelFinished
from talaria.ports.model import (
    Answer,
    Delta,
    Downgraded,
    ModelItem,
    ModelRequest,
    ReasoningDelta,
    Restart,
    TextDelta,
)


class _Call:
    """A model call under way: which attempt it is at, and what that has said."""

    def __init__(self, session: OpenRun, request: ModelRequest, room: Room) -> None:
        self.session = session
        self.request = request
        self.room = room
        self.began = time.monotonic()
        self.attempts = Attempts(session.means, request)
        self.said = self.attempts.said
        self.usage: Usage | None = None
        self.downgraded: list[str] = []
        self.is_heard = False
        self.since = 0
        self.restart()

    async def open(self) -> None:
        """Say the first of this message, once what comes before it has been told, that of other threads too."""
        session = self.session
        while True:
            await session.flush()
            if session.live.seq >= session.writer.state.seq:
                break
        self.is_heard = True
        self.since = session.live.begin(session.writer.epoch, self.attempt)

    def restart(self) -> None:
        """Begin an attempt: what was said before is void."""
        self.attempts.again()
        self.session.writer.attempts += 1
        self.attempt = self.session.writer.attempts
        if self.is_heard:
            self.since = self.session.live.begin(self.session.writer.epoch, self.attempt)

    def finished(self, message: AssistantMessage, answer: Answer | None, error: TalariaError | None) -> ModelFinished:
        """The entry for how the call ended."""
        session = self.session
        self.usage = self.attempts.took(answer)
        return ModelFinished(
            run=session.run.id,
            at=session.now(),
            round=session.run.rounds + 1,
            epoch=session.writer.epoch,
            attempt=self.attempt,
            message=message,
            finish=answer.finish if answer else "stop",
            usage=self.usage,
            duration_ms=int((time.monotonic() - self.began) * 1000),
            cut_calls=answer.cut_calls if answer else 0,
            error=error.code if error else "",
            error_text=error.message if error else "",
            downgraded=tuple(self.downgraded),
            reasoning_refused=answer.reasoning_refused if answer else False,
            since=0 if self.since == session.writer.state.seq or session.task else self.since,
            by_client=by_client(message, session),
        )

    def partial(self) -> AssistantMessage:
        """What was said so far, marked incomplete."""
        return AssistantMessage(join(self.said), self.session.run.turn.model, incomplete=True)


async def call_model(session: OpenRun, *, tools: bool) -> None:
    """Make one model call, unless a quota has no room for it.

    However it ends, short of this process ending, there is one ModelFinished for it.
    """
    bind_contextvars(round=session.run.rounds + 1)
    room = Room(session.quota)
    request = room.capped(model_request(session, tools=tools))
    try:
        await room.take(request)
    except QuotaExceeded as error:
        session.over_quota(error)
        return
    if session.means.recorder is not None:
        session.means.recorder.request(
            session.state.key, session.task, session.run.rounds + 1, request, session.redactor
        )
    call = _Call(session, request, room)
    try:
        await _ask(call)
    finally:
        await room.settle(call.usage)


async def _ask(call: _Call) -> None:
    session = call.session
    try:
        answer = await _listen(call)
        entry = call.finished(settle_calls(answer.message, session), answer, None)
    except QuotaExceeded as error:  # for another attempt: what the last one said is what there is
        session.record(call.finished(call.partial(), None, None))
        session.over_quota(error)
        return
    except TalariaError as error:
        session.log.warning("model_failed", code=error.code, error=error.message, provider=error.operator)
        if not isinstance(error, ModelError):
            session.log.warning("model_step_refused", code=error.code)
        entry = call.finished(call.partial(), None, error)
    except asyncio.CancelledError:
        if session.is_interrupted:
            session.record(call.finished(call.partial(), None, None))
        raise
    except Exception:
        session.record(call.finished(call.partial(), None, None))  # clients have had it
        raise
    session.record(entry)
    _log_round(session, entry)


async def _listen(call: _Call) -> Answer:
    live, said = call.session.live, call.said
    async with aclosing(call.session.means.model.stream(call.request)) as stream:
        async for items in stream:
            last = items[-1]
            deltas = cast("Sequence[Delta]", items if type(last) is TextDelta else _deltas(items))
            if deltas:
                if not call.is_heard:
                    await call.open()
                said += deltas
                live.say(deltas)
            if type(last) is Answer:
                return last
            if type(last) is Restart:
                await call.room.take(call.request)
                call.restart()
                live.tell(ChatEvent("notice", last.reason, reason=last.notice))
            elif type(last) is Downgraded:
                call.session.tell_downgraded(last.reason, call.downgraded)
    raise ModelError("the model's stream ended without an answer")


def _deltas(items: Sequence[ModelItem]) -> Sequence[ModelItem]:
    """The items less the answer, restart or downgrade that only the last one can be."""
    return items[:-1] if isinstance(items[-1], (Answer, Restart, Downgraded)) else items


def model_request(session: OpenRun, *, tools: bool) -> ModelRequest:
    """The request of this round."""
    turn, output = session.run.turn, session.run.turn.output
    return ModelRequest(
        model=turn.model,
        prompt=session.state.prompt,
        thinking=turn.options.thinking,
        temperature=turn.options.temperature,
        max_tokens=turn.options.max_tokens,
        tool_choice="auto" if tools else "none",
        user=session.state.key.user,
        assistant=session.state.key.assistant,
        run_id=turn.run,
        output_schema=output.schema if output is not None and not output.tool else None,
    )


def join(deltas: list[Delta]) -> tuple[AssistantPart, ...]:
    """The parts that a list of deltas makes: neighbours of one kind become one part."""
    parts: list[AssistantPart] = []
    pieces: list[str] = []
    for at, delta in enumerate(deltas):
        pieces.append(delta.text)
        if at + 1 == len(deltas) or type(deltas[at + 1]) is not type(delta):
            text = "".join(pieces)
            parts.append(Reasoning(text) if type(delta) is ReasoningDelta else Text(text))
            pieces = []
    return tuple(parts)


def _log_round(session: OpenRun, entry: ModelFinished) -> None:
    message, usage = entry.message, entry.usage
    session.log.info(
        "model_finished",
        round=entry.round,
        ms=entry.duration_ms,
        characters=len(message.text),
        calls=[call.name for call in message.calls],
        finish=entry.error or entry.finish,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
    )
