"""Putting the parts together: the one place that knows which adapter stands behind which port."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from talaria.agents.granted import Means
from talaria.artifacts.files import Files
from talaria.core.errors import ConfigurationError
from talaria.fetch import Fetcher
from talaria.journal.entries import AnyEntry, RunFinished, SessionExpired
from talaria.journal.index import index
from talaria.journal.state import SessionState
from talaria.live.hub import Hub
from talaria.memory.files import Limits
from talaria.memory.memories import Memories
from talaria.models.call_limits import CallLimits
from talaria.models.gateway import Gateway
from talaria.notify.outbox import Outbox
from talaria.ports.model import Transport
from talaria.runtime.admission import Admission
from talaria.runtime.artifacts import open_files
from talaria.runtime.attachments import Attachments
from talaria.runtime.audit import Audit
from talaria.runtime.audit_log import AuditLog
from talaria.runtime.deletion import Deletion
from talaria.runtime.desk import Desk
from talaria.runtime.engine import Engine
from talaria.runtime.expiry import Expiry
from talaria.runtime.kit import Kit
from talaria.runtime.links import Links
from talaria.runtime.lookup import Lookup
from talaria.runtime.notifier import Notifier
from talaria.runtime.outcomes import Outcomes
from talaria.runtime.owner import Owner
from talaria.runtime.plan import Plan
from talaria.runtime.previews import Previews
from talaria.runtime.quotas import make_quotas
from talaria.runtime.retention import Retention
from talaria.runtime.routes import model_labels, pricing
from talaria.runtime.sandboxes import Sandboxes, Site
from talaria.runtime.secrets import Secrets
from talaria.runtime.skills import Skills
from talaria.runtime.stores import open_store
from talaria.runtime.usage_report import UsageReport
from talaria.runtime.usage_sums import UsageSums
from talaria.telemetry.entry_counts import EntryCounts
from talaria.telemetry.metrics import Metrics
from talaria.telemetry.transcripts import Transcripts
from talaria.tools.breaker import Breakers
from talaria.tools.chain import fold
from talaria.tools.health import ArgumentHealth
from talaria.tools.own_chain import chain_with
from talaria.tools.stages.quota import quota
from talaria.tools.threads import ThreadPool


@dataclass(frozen=True, slots=True)
class Parts:
    """What an open runtime is made of."""

    kit: Kit
    engine: Engine
    admission: Admission
    desk: Desk
    lookup: Lookup
    audit_log: AuditLog
    deletion: Deletion
    retention: Retention
    usage: UsageReport
    usage_sums: UsageSums
    threads: ThreadPool
    transcripts: Transcripts | None
    gateway: Gateway | None
    breakers: Breakers
    sandboxes: Sandboxes
    links: Links
    previews: Previews
    notifier: Notifier | None
    files: Files
    skills: Skills
    memories: Memories
    fetcher: Fetcher

    @property
    def listeners(self) -> list[Callable[[], Awaitable[None]]]:
        """What goes on beside runs for as long as the runtime is open."""
        couriers = self.notifier.couriers if self.notifier is not None else []
        return [
            self.retention.watch,
            self.usage_sums.watch,
            self.links.watch,
            self.previews.watch,
            self.files.watch,
            self.sandboxes.watch,
            *(each.watch for each in couriers),
        ]

    async def close(self) -> None:
        """Close what holds files, threads and sockets."""
        self.kit.outcomes.close()
        self.kit.hub.close()
        self.threads.close()
        await self.sandboxes.close()
        await self.skills.close()
        if self.transcripts is not None:
            await asyncio.to_thread(self.transcripts.close)
        if self.gateway is not None:
            await self.gateway.close()
        if self.notifier is not None:
            await self.notifier.close()
        await self.files.close()
        for source in self.kit.catalog.databases.values():
            await source.database.close()
        await self.fetcher.close()
        await self.kit.store.close()


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
    files = await open_files(settings.artifacts, store, clock)
    audit, secrets = Audit(store, clock, settings.auth.home), Secrets(plan.seals, store.index)
    kit = Kit(settings, store, clock, Metrics(), plan.catalog, plan.policy, Hub(), Outcomes(), secrets, audit)
    quotas = await make_quotas(kit, plan.quotas, plan.routes)
    threads = ThreadPool(settings.limits.threads)
    transcripts = Transcripts(Path(settings.telemetry.transcripts)) if settings.telemetry.transcripts else None
    breakers = Breakers(settings.breaker.threshold, settings.breaker.cooldown, clock.now, kit.metrics)
    memory = settings.memory
    kept = Limits(memory.max_files, memory.max_file_bytes, memory.max_bytes)
    memories = Memories(store.index, clock, kept)
    means = Means(
        clock=clock,
        store=store,
        model=model,
        threads=threads,
        chain=fold([each for each in chain_with(plan.catalog.stages) if each is not quota or quotas is not None]),
        argument_health=ArgumentHealth(clock.now, kit.metrics),
        breakers=breakers,
        metrics=kit.metrics,
        files=files,
        memories=memories,
        recorder=transcripts,
        quotas=quotas,
        rows=Outbox(plan.targets).rows if plan.targets else index,
        priced=pricing(plan.routes),
    )
    sandboxes = Sandboxes(await asyncio.to_thread(Site.of, settings), clock, kit.metrics, store.journal)
    attachments = Attachments(files)
    skills = Skills(settings, plan.catalog.skills, clock)
    grants = plan.grants(kit.secrets, attachments, sandboxes, skills)
    labels = model_labels(plan.routes)
    counts = EntryCounts(labels, plan.catalog.registry.__contains__)
    kit.metrics.add(counts)

    def watch(state: SessionState, placed: Sequence[tuple[int, AnyEntry]]) -> None:
        counts.watch(placed)
        engine.watch(placed)
        if notifier is not None:
            notifier.watch(placed)
        if transcripts is not None:
            transcripts.entries(state.key, placed)
        for _, entry in placed:
            if isinstance(entry, RunFinished):
                kit.outcomes.settle(state, entry)
                kit.secrets.drop(entry.run)
            elif isinstance(entry, SessionExpired):
                sandboxes.forget(state.key)

    def currency(model: str) -> str:
        return labels(model).currency

    expiry = Expiry.of(settings.sessions)

    def make_owner() -> Owner:
        return Owner(means, store.journal, kit.hub, grants, watch, expiry)

    engine = Engine(kit, make_owner)
    lookup = Lookup(kit)
    desk = Desk(kit, lookup)
    links = Links(kit, desk)
    notifier = Notifier(kit, plan.targets, make_transport(), links) if plan.targets else None
    return Parts(
        kit=kit,
        engine=engine,
        admission=Admission(kit, engine, quotas, attachments, skills),
        desk=desk,
        lookup=lookup,
        audit_log=AuditLog(kit),
        deletion=Deletion(kit, engine, lookup, transcripts, files, sandboxes),
        retention=Retention(kit, engine, transcripts, files, sandboxes),
        usage=UsageReport(kit, currency),
        usage_sums=UsageSums(kit, currency),
        threads=threads,
        transcripts=transcripts,
        gateway=gateway,
        links=links,
        previews=Previews(kit, lookup, sandboxes.hold),
        notifier=notifier,
        breakers=breakers,
        files=files,
        sandboxes=sandboxes,
        skills=skills,
        memories=memories,
        fetcher=plan.fetcher,
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
