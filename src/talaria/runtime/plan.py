"""The plan of a runtime: what the configuration names, read and checked before anything is opened."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from talaria.agents.agent import AgentSpec
from talaria.agents.prompt import HARNESS_PROMPT
from talaria.core.errors import ConfigurationError
from talaria.fetch import Fetcher
from talaria.models.dialects import make_dialect
from talaria.models.routes import Route
from talaria.notify.target import Target
from talaria.policy.policy import Policy
from talaria.ports.clock import Clock
from talaria.ports.model import Dialect, Model
from talaria.quotas.rules import Rules
from talaria.runtime.attachments import Attachments
from talaria.runtime.catalog import DEFAULT_AGENT, Catalog, load_catalog
from talaria.runtime.clock import SystemClock
from talaria.runtime.fetching import make_fetcher
from talaria.runtime.grants import CatalogGrants, Harness, Reach
from talaria.runtime.notifier import make_targets
from talaria.runtime.policy import make_policy
from talaria.runtime.quota_rules import make_rules
from talaria.runtime.routes import check_models, make_routes
from talaria.runtime.sandboxes import Sandboxes
from talaria.runtime.sealing import Seals
from talaria.runtime.secrets import Secrets
from talaria.runtime.settings import Settings
from talaria.runtime.skills import Skills
from talaria.skills.tool import SKILL
from talaria.tools.consent import CONSENT
from talaria.tools.own_stages import OwnStage
from talaria.tools.recall import recall_tool
from talaria.tools.subagents import TASK_TOOLS

LONGEST_CALL = 24 * 3600.0
"""Seconds: what ends a call is the tool's own time."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What can be made without an event loop: everything that reads files or imports modules."""

    settings: Settings
    clock: Clock
    catalog: Catalog
    policy: Policy
    grants: Callable[[Secrets, Attachments, Sandboxes, Skills], CatalogGrants]
    model: Model | None
    routes: list[Route]
    dialects: dict[str, Dialect]
    quotas: Rules | None
    targets: list[Target]
    seals: Seals
    fetcher: Fetcher


def make_plan(
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
    builtin = (recall_tool(settings.limits.tool_result_limit),) if settings.limits.recall else ()
    policy = make_policy(settings, (*catalog.registry.tools, *builtin, CONSENT, *TASK_TOOLS, SKILL))

    harness = Harness(_harness(settings), builtin, settings.limits.max_depth)
    fetcher = make_fetcher(settings.fetch, LONGEST_CALL)

    def grants(secrets: Secrets, attachments: Attachments, sandboxes: Sandboxes, skills: Skills) -> CatalogGrants:
        return CatalogGrants(catalog, secrets, attachments, Reach(sandboxes, skills, fetcher), harness, policy)

    dialects = {route.prefix: make_dialect(route) for route in routes}
    names = [DEFAULT_AGENT, *(agent.name for agent in catalog.agents)]
    targets = make_targets(settings.notify, names, settings.approval.approvers)
    clock = clock or SystemClock(settings.server.timezone)
    quotas, seals = make_rules(settings.quotas, catalog), Seals(settings.secrets.keys)
    return Plan(settings, clock, catalog, policy, grants, model, routes, dialects, quotas, targets, seals, fetcher)


def _harness(settings: Settings) -> str:
    if settings.prompt.file is None:
        return HARNESS_PROMPT
    try:
        return Path(settings.prompt.file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"prompt.file: cannot read '{settings.prompt.file}': {error}") from error
