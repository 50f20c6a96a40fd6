"""Admission: what a request must pass before its turn is on record, and putting it there."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec
import structlog

from talaria.agents.agent import AgentSpec
from talaria.core.errors import Conflict, Forbidden, InvalidRequest, Overloaded
from talaria.core.ids import SessionKey, new_id
from talaria.core.principal import Principal
from talaria.core.redaction import too_short
from talaria.journal.index import WAKE, AuditRow
from talaria.journal.letters import TurnBody, cancel_letter, encode_body, read_turn
from talaria.journal.turn import OutputSpec, RunLimits, TurnOptions
from talaria.policy.policy import BYPASS, NO_BYPASS
from talaria.ports.inbox import Letter
from talaria.quotas.quotas import Quotas
from talaria.runtime.answers import output_spec
from talaria.runtime.attachments import Attachments
from talaria.runtime.engine import Engine
from talaria.runtime.external_request import external_secrets, read_external
from talaria.runtime.kit import Kit
from talaria.runtime.quota_door import QuotaDoor
from talaria.runtime.request import ChatRequest, history_messages
from talaria.runtime.routes import can_call, lack_of_route, make_routes
from talaria.runtime.skills import Skills
from talaria.skills.downloads import Brought
from talaria.tools.answers import ANSWER_TOOL, check_schema
from talaria.tools.ask_user import ASK_USER
from talaria.tools.consent import CONSENT
from talaria.tools.recall import RECALL
from talaria.tools.subagents import TASK_TOOLS

KEY_LIFE_MS = 24 * 3600 * 1000
KEPT = (ANSWER_TOOL, RECALL, ASK_USER.name, CONSENT.name, *(tool.name for tool in TASK_TOOLS))
"""Names that a request's tools may not have: those of the harness's own, whether they are offered or not."""
_log = structlog.get_logger("talaria.admission")


@dataclass(frozen=True, slots=True)
class Submitted:
    """A turn that is on record. `is_new` is False when an idempotency key led to an earlier run."""

    run_id: str
    session_id: str
    key: SessionKey
    is_new: bool


class Admission:
    """Turns requests into turn letters."""

    def __init__(
        self, kit: Kit, engine: Engine, quotas: Quotas | None, attachments: Attachments, skills: Skills
    ) -> None:
        self._attachments = attachments
        self._skills = skills
        self._door = QuotaDoor(kit, quotas)
        self._settings = kit.settings
        self._store = kit.store
        self._clock = kit.clock
        self._catalog = kit.catalog
        self._hub = kit.hub
        self._secrets = kit.secrets
        self._audit = kit.audit
        self._engine = engine
        self._routes = make_routes(kit.settings.models)

    async def submit(self, request: ChatRequest, principal: Principal, run_id: str | None = None) -> Submitted:
        """Admit a request: once this returns, its turn is durable and will run, under `run_id` where that is given.

        Raises:
            InvalidRequest: a field is wrong; it is named.
            Forbidden: the request speaks for another user, or wants an agent that asks for a role.
            Conflict: the session is busy (whenBusy reject), or the idempotency key belongs to another request.
            QuotaExceeded: a quota has no room.
            Overloaded: no place to run or to wait.
        """
        principal = speaker(principal, request.user_id)
        agent = self._catalog.agent(request.agent)
        if not agent.admits(principal):
            await self._audit.refused(principal, AuditRow("agent.permission", "deny", agent.name, "agent.roles"))
            raise Forbidden(f"agent '{agent.name}' asks for a role that you do not have{_or_name(request)}")
        body = self._body(request, principal, agent)
        run_id = run_id or new_id("run")
        key = session_key(request, principal, run_id)
        letter_key = run_id if request.idempotency_key is None else f"idem:{key.scope}/{request.idempotency_key}"
        known = await self._known(letter_key, body) if request.idempotency_key is not None else None
        if known is not None:
            return known
        attached = await self._attachments.admit(request.attachments, principal, key.path)
        skills = await self._skills.gather([Brought(each.name, each.url) for each in request.skills])
        body = msgspec.structs.replace(body, attachments=attached, skills=skills.skills, notices=skills.notices)
        letter = Letter(key.path, letter_key, "turn", run_id, self._clock.now(), encode_body(body))
        async with self._door.room(key, agent.name) as room:
            submitted = await self._admit(request, key, letter)
            room.is_used = submitted.is_new
            return submitted

    async def _admit(self, request: ChatRequest, key: SessionKey, letter: Letter) -> Submitted:
        with self._engine.place(key.path, self._settings.server.queue) as coming:
            if coming and request.when_busy == "reject":
                raise Conflict("session is busy with another turn that has just been sent", {})
            ahead = await self._ahead(key, request, coming)
            await self._make_way(request, key, ahead)
            secrets = request.tool_context | external_secrets(request.external_tools, read_turn(letter).external)
            return await self._put(letter, key, secrets, ahead)

    async def _put(self, letter: Letter, key: SessionKey, secrets: Mapping[str, str], ahead: list[str]) -> Submitted:
        run_id = letter.run
        must_wait = self._engine.is_working(key.path)
        self._secrets.keep(run_id, secrets)
        is_new = False
        try:
            sealed = self._secrets.sealed(run_id, key, letter.at)
            in_force = await self._store.inbox.put(letter, replace_before=letter.at - KEY_LIFE_MS, index=sealed)
            is_new = in_force.run == run_id
        finally:
            if not is_new:
                self._secrets.drop(run_id)
        if not is_new:
            return self._replay(in_force, read_turn(letter))
        place = len(ahead) + 1 if must_wait else self._engine.lined_up
        if self._hub.get(run_id) is None and (must_wait or self._engine.is_full):
            self._hub.own(run_id, 0).tell_place(max(1, place))
            self._hub.disown(run_id)
        self._engine.arrived(key.path)
        return Submitted(run_id, key.session, key, True)

    async def _ahead(self, key: SessionKey, request: ChatRequest, coming: int) -> list[str]:
        """The runs that wait in this session's line, beside `coming` that are being put; one at rest has none.

        Raises:
            Overloaded: the line is full.
        """
        longest, ahead = max(1, self._settings.server.queue), list[str]()
        if request.when_busy == "queue" and not self._engine.is_working(key.path):
            longest += 1  # the first of those that come runs at once
        else:
            letters = await self._store.inbox.pending(key.path)
            ahead = [letter.run for letter in letters if letter.kind == "turn"]
        if (waiting := len(ahead) + coming) >= longest:
            raise Overloaded(f"{waiting} turns wait in session '{key.session}'; try again later", retry_after=5)
        return ahead

    # Idempotency

    async def _known(self, letter_key: str, body: TurnBody) -> Submitted | None:
        letter = await self._store.inbox.get(letter_key)
        if letter is None or letter.at < self._clock.now() - KEY_LIFE_MS:
            return None
        return self._replay(letter, body)

    def _replay(self, letter: Letter, body: TurnBody) -> Submitted:
        if read_turn(letter).digest != body.digest:
            raise Conflict(
                "this idempotencyKey belongs to another request of the last 24 hours; take a new one",
                {"runId": letter.run},
            )
        key = SessionKey.parse(letter.session)
        return Submitted(letter.run, key.session, key, False)

    # A busy session

    async def _make_way(self, request: ChatRequest, key: SessionKey, ahead: list[str]) -> None:
        """A running turn is waited for, refused for, or cancelled; a parked one gives way by itself."""
        if request.when_busy == "queue":
            return
        current = await self._running(key)
        busy = [*([current] if current else []), *ahead]
        if request.when_busy == "interrupt":
            for run_id in busy:
                await self._store.inbox.put(cancel_letter(key.path, run_id, self._clock.now()))
        elif busy:
            raise Conflict(
                f"session '{key.session}' is busy with another turn; wait for it, or send whenBusy queue or interrupt",
                {"runId": busy[0]},
            )

    async def _running(self, key: SessionKey) -> str | None:
        """The session's running (not parked) run."""
        wake = await self._store.index.get(WAKE, key.path)
        if wake is None or wake.at > 0:
            return None
        return wake.data.decode()

    # The turn's body

    def _body(self, request: ChatRequest, principal: Principal, agent: AgentSpec) -> TurnBody:
        external = read_external(request.external_tools, (*self._catalog.registry.names, *KEPT))
        secrets = (*request.tool_context, *external_secrets(request.external_tools, external))
        model = self._model(request, agent)
        wanted = self._wanted(request, agent, model)
        names = [*(tool.name for tool in self._catalog.tools(agent, wanted)), *(tool.name for tool in external)]
        limits, server = self._settings.limits, self._settings.server
        self._note_secrets(request)
        if request.bypass_approval and BYPASS not in principal.roles:
            _log.warning("bypass_ignored", user=principal.user, advice=NO_BYPASS)
        return TurnBody(
            query=request.query,
            principal=principal,
            agent=agent.name,
            model=model,
            limits=RunLimits(
                max_calls=min(limits.max_tool_calls, request.max_tool_iterations or limits.max_tool_calls),
                max_calls_per_tool=limits.max_calls_per_tool,
                max_rounds=limits.max_rounds,
                run_timeout=server.run_timeout,
                tool_timeout=limits.tool_timeout,
                approval_timeout=self._settings.approval.timeout,
                result_limit=limits.tool_result_limit,
                output_repairs=limits.output_repairs,
            ),
            options=TurnOptions(request.thinking, request.temperature, request.max_tokens),
            system=request.system,
            tools=wanted,
            history=history_messages(request.history),
            secrets=secrets,
            labels=request.labels,
            detached=request.on_disconnect == "continue",
            digest=_digest(request, secrets) if request.idempotency_key is not None else "",
            output=self._output(request, agent, model, names),
            bypass=request.bypass_approval,
            external=external,
        )

    def _wanted(self, request: ChatRequest, agent: AgentSpec, model: str) -> tuple[str, ...] | None:
        """The tools that are asked for: none of the harness's where nobody chose and the model can call none."""
        if request.tools is not None:
            return tuple(request.tools)
        if agent.chosen is None and not can_call(self._routes, model):
            mine = self._catalog.tools(agent, None)
            return () if all(tool.source == "builtin" for tool in mine) else None
        return None

    def _output(self, request: ChatRequest, agent: AgentSpec, model: str, names: list[str]) -> OutputSpec | None:
        """The request's schema goes before the agent's type."""
        schema = request.output_schema
        if schema is not None:
            check_schema(schema)
        elif (known := self._catalog.output_type(agent.name)) is not None:
            schema = known.schema
        return None if schema is None else output_spec(schema, self._routes, model, names)

    def _model(self, request: ChatRequest, agent: AgentSpec) -> str:
        model = request.model_name or agent.model or self._settings.default_model
        if not model and self._settings.models:
            raise InvalidRequest("no model: send modelName, or set defaultModel or the agent's model")
        if lack := lack_of_route(self._settings.models, model):
            raise InvalidRequest(lack)
        return model

    def _note_secrets(self, request: ChatRequest) -> None:
        short = too_short(request.tool_context)
        if short:
            _log.warning("secrets_too_short", names=list(short), effect="their values cannot be masked")


def _or_name(request: ChatRequest) -> str:
    return "; name another one (GET /ai-api/agents)" if request.agent is None else ""


def speaker(principal: Principal, user_id: str | int | None) -> Principal:
    """Who the request speaks for: with a login the credential's user, without one the request's userId.

    Raises:
        Forbidden: the request names a user other than its credential's.
    """
    if user_id is None:
        return principal
    if principal.everyone:
        return Principal(principal.tenant, str(user_id), principal.roles)
    if str(user_id) != principal.user:
        raise Forbidden("userId is not the user of the credential; leave it out")
    return principal


def session_key(request: ChatRequest, principal: Principal, run_id: str) -> SessionKey:
    """The identity of the request's session; a turn without server memory has a journal of its own in it."""
    session = request.session_id or new_id("ses")
    assistant = "-" if request.assistant_id is None else str(request.assistant_id)
    if not principal.user or not assistant:
        raise InvalidRequest("userId and assistantId must not be empty")
    own = "" if request.use_server_memory else run_id
    return SessionKey(principal.tenant, principal.user, assistant, session, own)


def _digest(request: ChatRequest, secrets: Iterable[str]) -> str:
    """What makes two requests the same one. Of secrets only the names count: a digest of a short value tells it."""
    hidden = {"idempotency_key": True, "tool_context": True, "external_tools": {"__all__": {"api_key", "headers"}}}
    said = request.model_dump_json(by_alias=True, exclude=hidden)
    return hashlib.sha256(f"{said}{sorted(secrets)}".encode()).hexdigest()
