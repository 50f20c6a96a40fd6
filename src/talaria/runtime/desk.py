"""The desk: where people decide about questions and cancel runs. Everything goes through the inbox."""

from collections.abc import Collection
from typing import Any

import msgspec

from talaria.core.errors import Conflict, InvalidRequest, NotFound
from talaria.core.ids import SessionKey
from talaria.core.principal import Principal
from talaria.core.redaction import Redactor
from talaria.core.text import valid_text
from talaria.journal.index import APPROVAL, ApprovalRow
from talaria.journal.letters import DecisionBody, cancel_letter, decision_letter, read_decision
from talaria.journal.questions import CLIENT, FOR_USER, QUESTION
from talaria.journal.session import load_state
from talaria.journal.state import SessionState
from talaria.journal.views import iso_time
from talaria.ports.inbox import Letter
from talaria.runtime.deciders import Deciders
from talaria.runtime.kit import Kit
from talaria.runtime.lookup import Lookup
from talaria.tools.arguments import bind, parse_arguments
from talaria.tools.consent import CONSENT
from talaria.tools.declaration import Tool
from talaria.tools.errors import ArgumentsInvalid
from talaria.tools.result import result_text

LONGEST_ANSWER = 100_000
"""Characters of an answer."""
LONGEST_RESULT = 1_000_000
"""Characters of the result of a call that the caller ran."""


class Decision(msgspec.Struct, frozen=True, gc=False):
    """What somebody decides: consent, with edited arguments perhaps, or an answer to a question; or refusal.

    `via`: a `link`, or nothing.
    """

    request_id: str
    approve: bool
    arguments: dict[str, Any] | None = None
    comment: str = ""
    remember: bool = False
    via: str = ""
    answer: str | None = None


class Desk:
    """Puts decisions and cancels into inboxes; the first decision about a question is in force."""

    def __init__(self, kit: Kit, lookup: Lookup) -> None:
        self._store = kit.store
        self._clock = kit.clock
        self._catalog = kit.catalog
        self._secrets = kit.secrets
        self._deciders = Deciders(kit.settings.approval)
        self._lookup = lookup

    async def decide(self, principal: Principal, decision: Decision) -> dict[str, Any]:
        """Decide about a question; return the decision in force.

        Raises:
            NotFound: no such question for this principal.
            Forbidden: this principal may see it, and not decide about it.
            InvalidRequest: the edited arguments do not fit the tool, or there is no answer where one is asked for.
            Conflict: a different decision is in force already.
        """
        asking = await self._asking(principal, decision.request_id)
        body = await self._body(principal, decision, asking)
        return await self._settle(asking, body)

    async def result(self, principal: Principal, request_id: str, value: Any, *, is_error: bool) -> dict[str, Any]:
        """Take the result of a call that the caller runs: text, or any JSON value; return the one in force.

        Raises:
            NotFound: no such call for this principal.
            InvalidRequest: the request is about something else, or the result is too long.
            Conflict: another result is in force already, or the call is over.
        """
        asking = await self._asking(principal, request_id)
        if asking.row is not None and asking.row.reason != CLIENT:
            raise InvalidRequest("this waits for a decision and not for a result; POST it to /ai-api/chat/approval")
        text = result_text(value)
        if len(text) > LONGEST_RESULT:
            raise InvalidRequest(f"the result has {len(text)} characters; at most {LONGEST_RESULT} are taken")
        text = asking.redactor.mask(text)
        return await self._settle(asking, DecisionBody("answered", principal.user, answer=text, is_error=is_error))

    async def _asking(self, principal: Principal, request_id: str) -> "_Asking":
        """Find what is asked under this id, open or decided."""
        row = await self._store.index.get(APPROVAL, request_id)
        letter = await self._store.inbox.get(request_id)
        where = row.session if row is not None else letter.session if letter is not None else None
        if where is None or (letter is not None and letter.kind != "decision"):
            raise NotFound(f"no question '{request_id[:80]}'")
        key = SessionKey.parse(where)
        asked = msgspec.json.decode(row.data, type=ApprovalRow) if row is not None else None
        for_user = _is_for_user(asked, letter)
        if not self._deciders.may_see(principal, key, for_user=for_user):
            raise NotFound(f"no question '{request_id[:80]}'")
        self._deciders.check(principal, key, for_user=for_user)
        if row is None and letter is not None:
            await self._lookup.place(Principal(key.tenant, key.user), letter.run)  # it may have expired since
        run = asked.run if asked is not None else letter.run if letter is not None else ""
        redactor = await self._secrets.redactor(run, key.tenant)
        return _Asking(request_id, where, asked, letter, redactor)

    async def _settle(self, asking: "_Asking", body: DecisionBody) -> dict[str, Any]:
        letter = asking.letter
        if letter is None:
            assert asking.row is not None
            letter = await self._ask_inbox(asking.row, asking.session, asking.request_id, body)
        return self._in_force(letter, body)

    async def cancel(self, principal: Principal, run_id: str) -> dict[str, Any]:
        """Ask a run to end; a run that is over stays as it is. Return how it stands.

        Raises:
            NotFound: no such run for this principal.
        """
        view = await self._lookup.run(principal, run_id)
        if view["status"] != "finished":
            place = await self._lookup.place(principal, run_id)
            await self._store.inbox.put(cancel_letter(place.path, run_id, self._clock.now()))
        return {"runId": run_id, "status": "finished" if view["status"] == "finished" else "cancelling"}

    async def _ask_inbox(self, asked: ApprovalRow, session: str, request_id: str, body: DecisionBody) -> Letter:
        now = self._clock.now()
        if now >= asked.expires_at:
            body = DecisionBody("expired")
        body = msgspec.structs.replace(body, for_user=asked.reason in FOR_USER)
        return await self._store.inbox.put(decision_letter(session, request_id, asked.run, now, body))

    async def _body(self, principal: Principal, decision: Decision, asking: "_Asking") -> DecisionBody:
        """What people write is recorded: it is masked."""
        row, masked = asking.row, asking.redactor.mask
        if asking.letter is None and row is not None and row.reason == CLIENT:
            raise InvalidRequest("this call is run by the caller; POST its result to /ai-api/chat/tool-result")
        comment, role = masked(valid_text(decision.comment)), self._deciders.role(principal.roles)
        by, via = principal.user, decision.via
        if not decision.approve:
            if decision.arguments is not None:
                raise InvalidRequest("arguments go with APPROVE only")
            if decision.answer is not None:
                raise InvalidRequest("an answer goes with APPROVE only")
            return DecisionBody("declined", by, comment=comment, role=role, via=via)
        if row is not None:
            _check_kind(row, decision)
        if decision.answer is not None:
            answer = masked(_answer(decision.answer))
            return DecisionBody("answered", by, comment=comment, role=role, via=via, answer=answer)
        if decision.arguments is None:
            return DecisionBody("approved", by, comment=comment, remember=decision.remember, role=role, via=via)
        text = valid_text(msgspec.json.encode(decision.arguments).decode())
        if row is not None:
            _check_edited(await self._tool(asking.session, row), text)
        return DecisionBody("edited", principal.user, text, comment, role=role)

    async def _tool(self, session: str, row: ApprovalRow) -> Tool[..., Any]:
        """The tool that a question is about; one that is no tool of the deployment is as its run's model sees it."""
        if row.name == CONSENT.name:
            return CONSENT
        if row.name in self._catalog.registry:
            return self._catalog.registry.get(row.name)
        state = await load_state(self._store.journal, self._store.blobs, SessionKey.parse(session))
        specs = [each for thread in state.threads if row.call_id in _calls(thread) for each in thread.prompt.tools]
        spec = next((each for each in specs if each.name == row.name), None)
        if spec is None:
            raise NotFound(f"no tool named '{row.name}' any more")
        return Tool(spec.name, spec.description, spec.parameters, _elsewhere)

    def _in_force(self, letter: Letter, wanted: DecisionBody) -> dict[str, Any]:
        body = read_decision(letter)
        view: dict[str, Any] = {"requestId": letter.key, "decision": body.outcome, "decidedAt": iso_time(letter.at)}
        if body.by:
            view["by"] = body.by
        if body.arguments:
            view["arguments"] = msgspec.json.decode(body.arguments)
        if body.comment:
            view["comment"] = body.comment
        if body.answer:
            view["answer"] = body.answer
        if body.is_error:
            view["isError"] = True
        if _said(body) != _said(wanted):
            raise Conflict(f"this question was {body.outcome} before; that decision is in force", view)
        return view


class _Asking(msgspec.Struct, frozen=True, gc=False):
    """What is asked: open (`row`), or decided (`letter`), or both for a moment."""

    request_id: str
    session: str
    row: ApprovalRow | None
    letter: Letter | None
    redactor: Redactor


def _said(body: DecisionBody) -> tuple[Any, ...]:
    """What makes two decisions the same one."""
    return (body.outcome, body.arguments, body.answer, body.is_error)


def _calls(thread: SessionState) -> Collection[str]:
    return thread.active.calls if thread.active is not None else ()


def _elsewhere() -> None:
    raise AssertionError("this only stands for a tool")


def _check_edited(tool: Tool[..., Any], text: str) -> None:
    """Refuse arguments that do not fit the tool, in words for the person who wrote them."""
    try:
        bind(tool, parse_arguments(tool, text))
    except ArgumentsInvalid as error:
        wrong = "; ".join([f"{each['field']}: {each['message']}" for each in error.errors])
        raise InvalidRequest(
            f"these arguments do not fit '{tool.name}' ({wrong}); correct them and decide again", error.errors
        ) from error


def _is_for_user(asked: ApprovalRow | None, decided: Letter | None) -> bool:
    """Whether this is a question to the user; of one that is over, the answer says so."""
    if asked is not None:
        return asked.reason in FOR_USER
    return decided is not None and read_decision(decided).for_user


def _check_kind(asked: ApprovalRow, decision: Decision) -> None:
    """A question takes an answer and nothing else; what is no question takes none."""
    if asked.reason != QUESTION:
        if decision.answer is not None:
            raise InvalidRequest("this asks for consent to a call and takes no answer; leave it out")
    elif decision.answer is None:
        raise InvalidRequest("this is a question; APPROVE it with an answer, or DECLINE it")
    elif decision.arguments is not None or decision.remember:
        raise InvalidRequest("this is a question; it takes an answer, and no arguments and no remember")


def _answer(text: str) -> str:
    """An answer, once it is one."""
    if not text.strip():
        raise InvalidRequest("the answer is empty; DECLINE if there is none")
    if len(text) > LONGEST_ANSWER:
        raise InvalidRequest(f"the answer has {len(text)} characters; at most {LONGEST_ANSWER} are taken")
    return valid_text(text)
