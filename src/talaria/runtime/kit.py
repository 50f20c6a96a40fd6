"""What the runtime's parts have in common."""

from dataclasses import dataclass

from talaria.live.hub import Hub
from talaria.policy.policy import Policy
from talaria.ports.clock import Clock
from talaria.ports.store import Store
from talaria.runtime.audit import Audit
from talaria.runtime.catalog import Catalog
from talaria.runtime.outcomes import Outcomes
from talaria.runtime.secrets import Secrets
from talaria.runtime.settings import Settings
from talaria.telemetry.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Kit:
    """Settings, store, clock, metrics, policy, and what this process knows of agents, streams, waiters and secrets."""

    settings: Settings
    store: Store
    clock: Clock
    metrics: Metrics
    catalog: Catalog
    policy: Policy
    hub: Hub
    outcomes: Outcomes
    secrets: Secrets
    audit: Audit
