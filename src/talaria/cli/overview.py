"""What a server says of itself at its start: what is on, what is off, and why."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from talaria.policy.selection import select
from talaria.runtime.catalog import DEFAULT_AGENT, Catalog
from talaria.runtime.sandboxes import Sandboxes
from talaria.runtime.settings import ModelSettings, Settings

SHOWN = 8
"""Names of a list that are shown; the rest is a number."""


class Line(NamedTuple):
    """One part: whether it is on, and how; or why not."""

    name: str
    is_on: bool
    how: str

    @property
    def text(self) -> str:
        """In one string."""
        return f"{'on' if self.is_on else 'off'}: {self.how}"


def overview(settings: Settings, catalog: Catalog, sandboxes: Sandboxes, url: str) -> Sequence[Line]:
    """Return a line for each part, with no secret in it."""
    return (
        _store(settings),
        _files(settings),
        _models(settings),
        _agents(settings, catalog),
        _tools(settings, catalog),
        _databases(settings),
        _policy(settings),
        _approvals(settings, catalog),
        _auth(settings),
        _cors(settings),
        _sandbox(settings, sandboxes),
        _limits(settings),
        _quotas(settings),
        _breaker(settings),
        _untrusted(settings, catalog),
        _secrets(settings),
        _transcripts(settings),
        _notify(settings),
        Line("metrics", True, f"{url}/metrics"),
        Line("api", True, f"{url}/openapi.json describes it"),
    )


def screen(lines: Sequence[Line]) -> str:
    """The lines for people."""
    width = max(len(line.name) for line in lines)
    return "\n".join(f"  {line.name:{width}}  {'on ' if line.is_on else 'off'}  {line.how}" for line in lines)


def _store(settings: Settings) -> Line:
    url = settings.store.url
    if url.startswith("memory:"):
        return Line("store", False, f"store.url is {url}: sessions are gone when the server ends")
    return Line("store", True, url)


def _files(settings: Settings) -> Line:
    kept = settings.artifacts
    until = "until their session goes" if kept.ttl is None else f"for {kept.ttl:g} s"
    return Line("files", True, f"{kept.url.partition('?')[0]}, up to {kept.max_bytes} bytes, {until}")


def _models(settings: Settings) -> Line:
    if not settings.models:
        return Line("models", False, "models is empty: no model can be asked; add a route")
    default = f"; by default {settings.default_model}" if settings.default_model else "; no defaultModel"
    return Line("models", True, _listed(map(_route, settings.models)) + default)


def _route(model: ModelSettings) -> str:
    address = urlsplit(model.base_url)
    port = f":{address.port}" if address.port else ""
    keys = sum(1 for key in (model.api_key, *model.api_keys) if key)
    key = "no key" if not keys else f"{keys} keys" if keys > 1 else "1 key"
    return f"{model.prefix or '(any)'} → {model.dialect} at {address.hostname or '?'}{port}, {key}"


def _agents(settings: Settings, catalog: Catalog) -> Line:
    if not catalog.agents:
        return Line("agents", True, f"{DEFAULT_AGENT}, with all tools; agents names no others")
    return Line("agents", True, _listed(agent.name for agent in catalog.agents))


def _tools(settings: Settings, catalog: Catalog) -> Line:
    tools = catalog.registry.tools
    own = [tool.name for tool in tools if tool.source != "builtin"]
    where = f"of {_listed(settings.plugins)}" if settings.plugins else "plugins names no module"
    builtin = [tool.name for tool in tools if tool.source == "builtin"]
    said = f"{len(own)} {where}: {_listed(own)}" if own else f"none of your own: {where}"
    return Line("tools", bool(tools), said + (f"; built in: {_listed(builtin)}" if builtin else ""))


def _databases(settings: Settings) -> Line:
    if not settings.databases:
        return Line("databases", False, "databases names none")
    how = (f"{name}: {_listed(each.tables) or 'all tables'}" for name, each in settings.databases.items())
    return Line("databases", True, f"read by models: {'; '.join(how)}")


def _approvals(settings: Settings, catalog: Catalog) -> Line:
    approval, required = settings.approval, select(settings.approval.required_tools)
    asks = [tool.name for tool in catalog.registry.tools if tool.approval or tool in required]
    rules = sum(rule.ask is not None for rule in settings.policy.rules)
    asks += [f"policy.rules ({rules} that ask)"] if rules else []
    if not asks:
        return Line("approvals", False, "no tool asks a person before it runs")
    who = "the run's own user decides"
    if approval.approvers:
        others = ", never about their own runs" if approval.not_requester else ""
        who = f"who has one of the roles {_listed(approval.approvers)} decides{others}"
        if settings.auth.kind == "none":
            who = "nobody can decide: approval.approvers names roles, and without a login nobody has one"
    return Line("approvals", True, f"{_listed(asks)}; {who}, within {approval.timeout:g} s")


def _policy(settings: Settings) -> Line:
    rules = settings.policy.rules
    if not rules:
        return Line("policy", False, "policy.rules is empty: tools are allowed as they are declared")
    counts = {each: sum(getattr(rule, each) is not None for rule in rules) for each in ("deny", "ask", "allow")}
    how = ", ".join(f"{count} that {each}" for each, count in counts.items() if count)
    return Line("policy", True, f"rules: {how}")


def _auth(settings: Settings) -> Line:
    if settings.auth.kind == "none":
        return Line("auth", False, "auth.kind is none: whoever reaches this machine's loopback sees everything")
    tokens = f": tokens of {settings.auth.issuer} for {_listed(settings.auth.audiences)}"
    return Line("auth", True, settings.auth.kind + (tokens if settings.auth.kind == "jwt" else ""))


def _cors(settings: Settings) -> Line:
    if not settings.server.cors:
        return Line("cors", False, "server.cors names no origin")
    return Line("cors", True, _listed(settings.server.cors))


def _sandbox(settings: Settings, sandboxes: Sandboxes) -> Line:
    asked = settings.sandbox
    if asked.kind == "none":
        return Line("sandbox", False, "sandbox.kind is none: there are no tools that run code or keep files")
    if sandboxes.refusal:
        return Line("sandbox", False, sandboxes.refusal)
    network = f"reaches {_listed(asked.egress)}" if asked.network == "egress" else "no network"
    return Line(
        "sandbox",
        True,
        f"{sandboxes.kind} ({sandboxes.why}); at most {asked.max}, each {asked.memory // 2**20} MiB, "
        f"{asked.cpus:g} cores, {network}; idle ones end after {asked.idle:g} s",
    )


def _limits(settings: Settings) -> Line:
    server, limits = settings.server, settings.limits
    return Line(
        "limits",
        True,
        f"{server.max_runs} runs at once, {server.queue} in line; a run: {server.run_timeout:g} s, "
        f"{limits.max_rounds} rounds, {limits.max_tool_calls} tool calls",
    )


def _quotas(settings: Settings) -> Line:
    quotas = settings.quotas
    named = {"tenants": quotas.tenants, "agents": quotas.agents, "users": quotas.users, "tools": quotas.tools}
    entries = [f"{level}.{name}" for level, each in named.items() for name in each]
    if not entries:
        return Line("quotas", False, "quotas names nobody: anybody may use any amount")
    return Line("quotas", True, _listed(entries))


def _breaker(settings: Settings) -> Line:
    breaker = settings.breaker
    if breaker.threshold is None:
        return Line("breaker", False, "breaker.threshold is null: a tool that keeps failing is called all the same")
    return Line(
        "breaker", True, f"a tool is left alone for {breaker.cooldown:g} s after {breaker.threshold} failures in a row"
    )


def _untrusted(settings: Settings, catalog: Catalog) -> Line:
    names = [tool.name for tool in catalog.registry.tools if tool.untrusted]
    after = settings.policy.after_untrusted
    how = f"{_listed(names) or 'no tool'} brings content from outside; then policy.afterUntrusted: {after}"
    return Line("untrusted", after != "allow", how)


def _secrets(settings: Settings) -> Line:
    if not settings.secrets.keys:
        return Line("secrets", False, "secrets.key is not set: those of runs that a restart cuts short are lost")
    return Line("secrets", True, "those of runs that are not over are kept, encrypted")


def _transcripts(settings: Settings) -> Line:
    if settings.telemetry.transcripts is None:
        return Line("transcripts", False, "telemetry.transcripts names no folder")
    return Line("transcripts", True, settings.telemetry.transcripts)


def _notify(settings: Settings) -> Line:
    if not settings.notify:
        return Line("notify", False, "notify names no address")
    links = settings.server.public_url or "none, server.publicUrl is not set"
    told = [f"{each.format} at {urlsplit(each.url).hostname}: {' '.join(each.on)}" for each in settings.notify]
    return Line("notify", True, f"{_listed(told)}; links that decide: {links}")


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - SHOWN} more" if len(every) > SHOWN else ""
    return ", ".join(every[:SHOWN]) + more
