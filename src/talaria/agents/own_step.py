"""A turn of an agent of one's own: begun anew whenever the run resumes; what is on record is not done again."""

import inspect
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, cast

from talaria.agents.open_run import OpenRun
from talaria.agents.own import AgentRequest, OwnGrant
from talaria.agents.own_given import given
from talaria.agents.own_parts import Reply
from talaria.agents.own_turn import Left, OwnTurn, all_said, answered
from talaria.core.errors import OutputInvalid, TalariaError
from talaria.core.events import ChatEvent
from talaria.core.messages import Text
from talaria.core.text import valid_text
from talaria.journal.entries import AgentSaid
from talaria.tools.outlet import EventBudget


async def invoke(session: OpenRun, own: OwnGrant) -> None:
    """Run the agent from its beginning to its answer, or to where it has to wait."""
    await session.flush()
    await own.spec.initialize(own.tools)
    turn = OwnTurn(session, own)
    try:
        await _answer(turn)
        if not turn.is_left:
            session.record(answered(session, all_said(session), "stop"))
    except Left:
        return
    except TalariaError as error:
        session.record(answered(session, all_said(session, incomplete=True), "stop", error))
    finally:
        turn.is_left = True  # tasks that the agent left behind do nothing more


async def _answer(turn: OwnTurn) -> None:
    session, run = turn.session, turn.session.run
    agent, budget = turn.own.spec.agent, EventBudget()
    request = AgentRequest(
        query="".join(part.text for part in run.turn.message.parts if isinstance(part, Text)),
        run_id=run.id,
        messages=turn.messages,
        principal=session.principal,
        labels=dict(run.turn.labels),
        parts=given(turn, agent.needs),
    )
    answer: Any = agent.invoke(request, session.session)
    if inspect.isawaitable(answer):
        answer = await answer
    async with aclosing(_pieces(answer)) as pieces:
        async for piece in pieces:
            if turn.is_left:
                return
            if piece.data != "" or piece.type == "custom":
                await turn.say(_said(session, piece, budget))


async def _pieces(answer: Any) -> AsyncGenerator[ChatEvent]:
    if isinstance(answer, Reply):
        yield ChatEvent("token", answer.text)
    elif isinstance(answer, AsyncIterator):
        pieces = cast("AsyncIterator[str | ChatEvent]", answer)
        try:
            async for piece in pieces:
                yield piece if isinstance(piece, ChatEvent) else ChatEvent("token", piece)
        finally:
            if isinstance(pieces, AsyncGenerator):
                await pieces.aclose()
    else:
        raise OutputInvalid(f"the agent returned {type(answer).__name__}; return a Reply, or yield text and events")


def _said(session: OpenRun, piece: ChatEvent, budget: EventBudget) -> AgentSaid:
    run, at = session.run.id, session.now()
    match piece:
        case ChatEvent("token" | "reasoning" as kind, str(text)):
            return AgentSaid(run=run, at=at, kind=kind, data=valid_text(text))
        case ChatEvent("custom", data, str(name)):
            return AgentSaid(run=run, at=at, kind="custom", data=budget.check(name, data), name=valid_text(name))
        case _:
            raise OutputInvalid(
                f"the agent gave {piece.type!r:.80} with {piece.data!r:.80}; yield text, or ChatEvents of type token, "
                "reasoning (data: text) or custom (name, data)"
            )
