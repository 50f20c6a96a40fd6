"""The runtime: where agents run. A program drives it directly, the server through its parts."""

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from talaria.agents.agent import AgentSpec
from talaria.agents.own import OwnSpec
from talaria.core.errors import ConfigurationError, InternalError, InvalidRequest
from talaria.core.events import ChatEvent
from talaria.core.ids import new_id
from talaria.core.principal import Principal
from talaria.ports.clock import Clock
from talaria.ports.model import Model
from talaria.runtime.results import RunResult
from talaria.tools.own_stages import OwnStage
from talaria.tools.session import Session

if TYPE_CHECKING:  # what a runtime is made of takes half a second to import; whoever opens one waits for it
    from talaria.runtime.admission import Submitted
    from talaria.runtime.build import Parts
    from talaria.runtime.settings import Settings


class Runtime:
    """Where agents run. Open it with `async with`; one runtime serves any number of agents and sessions.

    `config` is a mapping with the keys of talaria.yaml, a path to such a file, or None for ./talaria.yaml and the
    environment. `agents` and `tools` are registered beside the configured ones; an
    object whose methods are tools stands for all of them. `stages`, made by `@stage`, join
    the chain of every tool call before those of plugins. `model` and `clock` replace the
    configured models and the machine's clock (tests).

    Raises:
        ConfigurationError: the configuration is wrong; the message names the key.
    """

    def __init__(
        self,
        config: "Mapping[str, Any] | str | os.PathLike[str] | Settings | None" = None,
        *,
        agents: Sequence[AgentSpec] = (),
        tools: Sequence[object] = (),
        stages: Sequence[OwnStage] = (),
        model: Model | None = None,
        clock: Clock | None = None,
    ) -> None:
        from talaria.runtime.configure import read_settings  # noqa: PLC0415
        from talaria.runtime.plan import make_plan  # noqa: PLC0415 - see above
        from talaria.telemetry.logs import log_warnings  # noqa: PLC0415

        self.settings: Settings = read_settings(config)
        log_warnings(self.settings.telemetry.logs)
        self._plan = make_plan(self.settings, model, clock, agents, tools, stages)
        self._parts: Parts | None = None

    @property
    def parts(self) -> "Parts":
        """The parts, once open."""
        if self._parts is None:
            raise ConfigurationError("the runtime is not open; use 'async with talaria.Runtime(…) as runtime'")
        return self._parts

    async def __aenter__(self) -> "Runtime":
        from talaria.runtime.build import build  # noqa: PLC0415 - see above

        self._parts = await build(self._plan)
        try:
            for each in self._own_agents():
                await each.initialize(self._parts.kit.catalog.registry.names)
            await self._parts.engine.start(*self._parts.listeners)
        except BaseException:
            await self.close(0.0)
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close(0.0)

    async def close(self, grace: float) -> None:
        """Stop: running runs get `grace` seconds, what then still runs resumes at the next start."""
        parts, self._parts = self._parts, None
        if parts is not None:
            await parts.engine.stop(grace)
            try:
                for each in self._own_agents():
                    await each.destroy()
            finally:
                await parts.close()

    def _own_agents(self) -> list[OwnSpec]:
        return [each for each in self._plan.catalog.agents if isinstance(each, OwnSpec)]

    # What a program does

    async def run(
        self,
        agent: AgentSpec | str,
        query: str,
        *,
        session: str | None = None,
        principal: Principal | None = None,
        **fields: Any,
    ) -> RunResult:
        """Run one turn of an agent (or of the registered one of that name) to its end.

        `fields` are those of the chat request, in snake_case; `secrets` is toolContext. The result's `output` is a
        value of the agent's `output_type`, unless `fields` have an `output_schema`.

        Raises:
            TalariaError: the run ended with an error, or was not admitted.
        """
        run_id, outcomes = new_id("run"), self.parts.kit.outcomes
        outcome = outcomes.expect(run_id)
        try:
            submitted = await self._submit(agent, query, session, principal, fields | {"run_id": run_id})
            if submitted.is_new:
                result = await outcome
            else:
                result = await self.parts.lookup.result(submitted.run_id, principal or Principal())
        finally:
            outcomes.drop(run_id)
        known = self.parts.kit.catalog.output_type(agent if isinstance(agent, str) else agent.name)
        if known is not None and result.output is not None and fields.get("output_schema") is None:
            result.output = known.value(result.text)
        return result

    async def stream(
        self,
        agent: AgentSpec | str,
        query: str,
        *,
        session: str | None = None,
        principal: Principal | None = None,
        **fields: Any,
    ) -> AsyncIterator[ChatEvent]:
        """Run one turn and yield its events as they happen; see `run` for `fields`.

        Raises:
            TalariaError: the run was not admitted, or the runtime was closed before its end. A run that fails ends
                with an error event.
        """
        submitted = await self._submit(agent, query, session, principal, fields)
        event = None
        async with aclosing(self.parts.lookup.follow(submitted.run_id, submitted.key)) as batches:
            async for frames in batches:
                for frame in frames:
                    event = frame.event
                    yield event
        if event is None or event.type not in ("finish", "error"):
            raise InternalError(f"the runtime was closed; run {submitted.run_id} resumes when it is opened again")

    # What people do

    async def approve(
        self,
        request_id: str,
        *,
        arguments: dict[str, Any] | None = None,
        comment: str = "",
        principal: Principal | None = None,
    ) -> dict[str, Any]:
        """Agree to a call, as the model wrote it or with other arguments; return the decision in force.

        Raises:
            NotFound: no such question for this principal.
            InvalidRequest: the arguments do not fit the tool.
            Conflict: another decision is in force already.
        """
        return await self._decide(principal, request_id, approve=True, arguments=arguments, comment=comment)

    async def decline(
        self, request_id: str, *, comment: str = "", principal: Principal | None = None
    ) -> dict[str, Any]:
        """Refuse a call; `comment` is told to the model. For the rest see `approve`."""
        return await self._decide(principal, request_id, approve=False, comment=comment)

    async def answer(self, request_id: str, text: str, *, principal: Principal | None = None) -> dict[str, Any]:
        """Answer a question that a model asks the user (`question` event); return the decision in force.

        Raises:
            NotFound: no such question for this principal.
            InvalidRequest: it asks for consent and not for an answer, or the answer is empty or too long.
            Conflict: another decision is in force already.
        """
        return await self._decide(principal, request_id, approve=True, answer=text)

    async def tool_result(
        self, request_id: str, result: Any, *, is_error: bool = False, principal: Principal | None = None
    ) -> dict[str, Any]:
        """Say what came of a call of a client tool (`tool_call` event with `data`); return the result in force.

        Raises:
            NotFound: no such call for this principal.
            InvalidRequest: the result is too long, or has no JSON form.
            Conflict: another result is in force already, or the call is over.
        """
        return await self.parts.desk.result(principal or Principal(), request_id, result, is_error=is_error)

    async def cancel(self, run_id: str, *, principal: Principal | None = None) -> dict[str, Any]:
        """Ask a run to end.

        Raises:
            NotFound: no such run for this principal.
        """
        return await self.parts.desk.cancel(principal or Principal(), run_id)

    async def _decide(self, principal: Principal | None, request_id: str, **decision: Any) -> dict[str, Any]:
        from talaria.runtime.desk import Decision  # noqa: PLC0415 - see above

        return await self.parts.desk.decide(principal or Principal(), Decision(request_id, **decision))

    async def session(
        self, session_id: str, *, principal: Principal | None = None, assistant: str | None = None
    ) -> Session:
        """Return a session as it is on record now, to be read: its messages and variables.

        Raises:
            NotFound: no such session for this principal.
            InvalidRequest: several assistants have a session of this id; say which.
        """
        whom = principal or Principal()
        return Session(await self.parts.lookup.state(whom, session_id, assistant), whom)

    async def _submit(
        self,
        agent: AgentSpec | str,
        query: str,
        session: str | None,
        principal: Principal | None,
        fields: dict[str, Any],
    ) -> "Submitted":
        from pydantic import ValidationError  # noqa: PLC0415 - see above

        from talaria.runtime.request import ChatRequest  # noqa: PLC0415 - see above

        if not isinstance(agent, str):
            self.parts.kit.catalog.add_agent(agent)
        run_id: str | None = fields.pop("run_id", None)
        if (secrets := fields.pop("secrets", None)) is not None:
            fields["tool_context"] = secrets
        try:
            name = agent if isinstance(agent, str) else agent.name
            request = ChatRequest(query=query, agent=name, session_id=session, **fields)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise InvalidRequest(f"{where}: {first['msg']}") from None
        return await self.parts.admission.submit(request, principal or Principal(), run_id)
