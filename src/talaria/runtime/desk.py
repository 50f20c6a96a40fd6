"""The desk: where people decide about questions and cancel runs. Everything goes through the inbox."""

from collections.abc import Callable
from typing import Any

import msgspec

from talaria.core.errors import Conflict, InvalidRequest, NotFound
from talaria.core.ids import SessionKey
from talaria.core.principal import Principal
from talaria.core.text import valid_text
from talaria.journal.index import APPROVAL, ApprovalRow
from talaria.journal.letters import DecisionBody, cancel_letter, decision_letter, read_decision
from talaria.journal.questions import QUESTION
from talaria.journal.views import iso_time
from talaria.ports.inbox import Letter
from talaria.runtime.deciders import Deciders
from talaria.runtime.kit import Kit
from talaria.runtime.lookup import Lookup
from talaria.tools.arguments import bind, parse_arguments
from talaria.tools.consent import CONSENT
from talaria.tools.declaration import Tool
from talaria.tools.errors import ArgumentsInvalid

LONGEST_ANSWER = 100_000
"""Characters of an answer."""


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
        row = await self._store.index.get(APPROVAL, decision.request_id)
        letter = await self._store.inbox.get(decision.request_id)
        where = row.session if row is not None else letter.session if letter is not None else None
        if where is None or (letter is not None and letter.kind != "decision"):
            raise NotFound(f"no question '{decision.request_id[:80]}'")
        key = SessionKey.parse(where)
        asked = msgspec.json.decode(row.data, type=ApprovalRow) if row is not None else None
        for_user = _is_for_user(asked, letter)
        if not self._deciders.may_see(principal, key, for_user=for_user):
            raise NotFound(f"no question '{decision.request_id[:80]}'")
        self._deciders.check(principal, key, for_user=for_user)
        if row is None and letter is not None:
            await self._lookup.place(Principal(key.tenant, key.user), letter.run)  # it may have expired since
        run = asked.run if asked is not None else letter.run if letter is not None else ""
        redactor = await self._secrets.redactor(run, key.tenant)
        body = self._body(principal, decision, asked, redactor.mask)
        if letter is None:
            assert asked is not None
            letter = await self._ask_inbox(asked, where, decision.request_id, body)
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
        body = msgspec.structs.replace(body, for_user=asked.reason == QUESTION)
        return await self._store.inbox.put(decision_letter(session, request_id, asked.run, now, body))

    def _body(
        self, principal: Principal, decision: Decision, row: ApprovalRow | None, masked: Callable[[str], str]
    ) -> DecisionBody:
        """`masked`: what people write is recorded."""
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
            tool = CONSENT if row.name == CONSENT.name else self._catalog.registry.get(row.name)
            _check_edited(tool, text)
        return DecisionBody("edited", principal.user, text, comment, role=role)

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
        if (body.outcome, body.arguments, body.answer) != (wanted.outcome, wanted.arguments, wanted.answer):
            raise Conflict(f"this question was {body.outcome} before; that decision is in force", view)
        return view


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
        return asked.reason == QUESTION
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
