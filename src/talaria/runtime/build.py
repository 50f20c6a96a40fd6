"""Putting the parts together: the one place that knows which adapter stands behind which port."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from talaria.agents.agent import AgentSpec
from talaria.agents.open_run import Means
from talaria.agents.prompt import HARNESS_PROMPT
from talaria.core.errors import ConfigurationError
from talaria.journal.entries import AnyEntry, RunFinished
from talaria.journal.state import SessionState
from talaria.live.hub import Hub
from talaria.models.call_limits import CallLimits
from talaria.models.dialects import make_dialect
from talaria.models.gateway import Gateway
from talaria.models.routes import Route
from talaria.ports.clock import Clock
from talaria.ports.model import Dialect, Model, Transport
from talaria.runtime.admission import Admission
from talaria.runtime.catalog import Catalog, load_catalog
from talaria.runtime.clock import SystemClock
from talaria.runtime.deletion import Deletion
from talaria.runtime.desk import Desk
from talaria.runtime.engine import Engine
from talaria.runtime.expiry import Expiry
from talaria.runtime.grants import CatalogGrants
from talaria.runtime.kit import Kit
from talaria.runtime.lookup import Lookup
from talaria.runtime.outcomes import Outcomes
from talaria.runtime.owner import Owner
from talaria.runtime.retention import Retention
from talaria.runtime.routes import check_models, make_routes, model_labels
from talaria.runtime.sealing import Seals, make_seals
from talaria.runtime.secrets import Secrets
from talaria.runtime.settings import Settings
from talaria.runtime.stores import open_store
from talaria.telemetry.entry_counts import EntryCounts
from talaria.telemetry.metrics import Metrics
from talaria.telemetry.transcripts import Transcripts
from talaria.tools.breaker import Breakers
from talaria.tools.chain import fold
from talaria.tools.health import ArgumentHealth
from talaria.tools.own_chain import chain_with
from talaria.tools.own_stages import OwnStage
from talaria.tools.recall import recall_tool
from talaria.tools.threads import ThreadPool


@dataclass(frozen=True, slots=True)
class Parts:
    """What an open runtime is made of."""

    kit: Kit
    engine: Engine
    admission: Admission
    desk: Desk
    lookup: Lookup
    deletion: Deletion
    retention: Retention
    threads: ThreadPool
    transcripts: Transcripts | None
    gateway: Gateway | None
    breakers: Breakers

    async def close(self) -> None:
        """Close what holds files, threads and sockets."""
        self.kit.outcomes.close()
        self.kit.hub.close()
        self.threads.close()
        if self.transcripts is not None:
            await asyncio.to_thread(self.transcripts.close)
        if self.gateway is not None:
            await self.gateway.close()
        await self.kit.store.close()


@dataclass(frozen=True, slots=True)
class Plan:
    """What can be made without an event loop: everything that reads files or imports modules."""

    settings: Settings
    clock: Clock
    catalog: Catalog
    grants: Callable[[Secrets], CatalogGrants]
    model: Model | None
    routes: list[Route]
    dialects: dict[str, Dialect]
    seals: Seals


def plan(
    settings: Settings,
    model: Model | None,
    clock: Clock | None,
    agents: Sequence[AgentSpec],
    tools: Sequence[object],
    stages: Sequence[OwnStage],
) -> Plan:
    """Read what the configuration names.

    Raises:
        ConfigurationError: something that the configuration names is not there.
    """
    catalog = load_catalog(settings, agents, tools, stages)
    if model is None:
        named = {f"agents.{agent.name}.model": agent.model for agent in catalog.agents}
        check_models(settings.models, named | {"defaultModel": settings.default_model})
    routes = make_routes(settings.models)
    harness, asks_for = _harness(settings), frozenset(settings.approval.required_tools)
    builtin = (recall_tool(settings.limits.tool_result_limit),) if settings.limits.recall else ()

    def grants(secrets: Secrets) -> CatalogGrants:
        return CatalogGrants(catalog, secrets, harness, asks_for, builtin)

    dialects = {route.prefix: make_dialect(route) for route in routes}
    clock = clock or SystemClock(settings.server.timezone)
    return Plan(settings, clock, catalog, grants, model, routes, dialects, make_seals(settings.secrets.keys))


async def build(plan: Plan) -> Parts:
    """Open adapters and join them to the parts.

    Raises:
        ConfigurationError: the store cannot be opened, or a model's route is wrong.
    """
    settings, clock = plan.settings, plan.clock
    await asyncio.to_thread(_make_folder, settings.telemetry.transcripts)
    gateway = None if plan.model is not None else _gateway(plan)
    model = plan.model or gateway
    assert model is not None
    store = await open_store(settings.store.url)
    kit = Kit(settings, store, clock, Metrics(), plan.catalog, Hub(), Outcomes(), Secrets(plan.seals, store.index))
    threads = ThreadPool(settings.limits.threads)
    transcripts = Transcripts(Path(settings.telemetry.transcripts)) if settings.telemetry.transcripts else None
    breakers = Breakers(settings.breaker.threshold, settings.breaker.cooldown, clock.now, kit.metrics)
    means = Means(
        clock=clock,
        store=store,
        model=model,
        threads=threads,
        chain=fold(chain_with(plan.catalog.stages)),
        argument_health=ArgumentHealth(clock.now, kit.metrics),
        breakers=breakers,
        after_untrusted=settings.policy.after_untrusted,
        metrics=kit.metrics,
        recorder=transcripts,
    )
    grants = plan.grants(kit.secrets)
    counts = EntryCounts(model_labels(plan.routes), plan.catalog.registry.__contains__)
    kit.metrics.add(counts)

    def watch(state: SessionState, placed: Sequence[tuple[int, AnyEntry]]) -> None:
        counts.watch(placed)
        engine.watch(placed)
        if transcripts is not None:
            transcripts.entries(state.key, placed)
        for _, entry in placed:
            if isinstance(entry, RunFinished):
                kit.outcomes.settle(state, entry)
                kit.secrets.drop(entry.run)

    expiry = Expiry.of(settings.sessions)

    def make_owner() -> Owner:
        return Owner(means, store.journal, kit.hub, grants, watch, expiry)

    engine = Engine(kit, make_owner)
    lookup = Lookup(kit)
    return Parts(
        kit=kit,
        engine=engine,
        admission=Admission(kit, engine),
        desk=Desk(kit, lookup),
        lookup=lookup,
        deletion=Deletion(kit, engine, lookup, transcripts),
        retention=Retention(kit, engine, lookup, transcripts),
        threads=threads,
        transcripts=transcripts,
        gateway=gateway,
        breakers=breakers,
    )


def _make_folder(transcripts: str | None) -> None:
    if transcripts is None:
        return
    try:
        Path(transcripts).mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise ConfigurationError(f"telemetry.transcripts: cannot write to {transcripts}: {error.strerror}") from error


def _gateway(plan: Plan) -> Gateway:
    limits = plan.settings.limits
    calls = CallLimits(plan.clock, limits.model_calls_per_minute, limits.session_model_calls)
    return Gateway(plan.routes, make_transport(), plan.clock, limits=calls, dialects=plan.dialects)


def make_transport() -> Transport:
    """Return what sends HTTP calls to models."""
    from talaria.models.http import AioHttpTransport  # noqa: PLC0415 - its library takes 0.2 s to import

    return AioHttpTransport()


def _harness(settings: Settings) -> str:
    if settings.prompt.file is None:
        return HARNESS_PROMPT
    try:
        return Path(settings.prompt.file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"prompt.file: cannot read '{settings.prompt.file}': {error}") from error
