"""The configuration: what talaria.yaml may say, with its defaults. Keys are camelCase there and in the environment."""

from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from talaria.models.mapped.mapping import ProtocolMapping
from talaria.runtime.auth_settings import AuthSettings
from talaria.runtime.database_settings import DatabaseName, DatabaseSettings
from talaria.runtime.notify_settings import NotifySettings
from talaria.runtime.policy_settings import ApprovalSettings, PolicySettings
from talaria.runtime.quota_settings import QuotaSettings
from talaria.runtime.section import Bytes, Count, Identity, Positive, Section

SHORTEST_KEY = 16


class ServerSettings(Section):
    """Where it listens and how much it takes on. Times in seconds, padding in bytes.

    `allowedHosts`: names besides this machine's own under which it may be asked while there is no login. `publicUrl`:
    where people reach it; links that are sent begin with it.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    max_runs: Count = 200
    queue: Annotated[int, Field(ge=0)] = 200
    run_timeout: Positive = 600
    heartbeat: Positive = 15
    heartbeat_padding: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    grace: Annotated[float, Field(ge=0)] = 20
    cors: list[str] = []
    allowed_hosts: list[str] = []
    public_url: str | None = None
    timezone: str | None = None

    @field_validator("public_url")
    @classmethod
    def _can_be_opened(cls, url: str | None) -> str | None:
        parts = urlsplit(url or "http://x")
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("it must be an http or https address without '?' and '#'")
        return url if url is None else url.rstrip("/")


class StoreSettings(Section):
    """Where sessions are kept: memory:// or sqlite:///path."""

    url: str = "sqlite:///./talaria.db"


class LiveSettings(Section):
    """Where live streams are kept: memory://."""

    url: Literal["memory://"] = "memory://"


class EngineSettings(Section):
    """What drives runs: local."""

    kind: Literal["local"] = "local"


class PriceSettings(Section):
    """Money per million tokens."""

    input: Annotated[float, Field(ge=0)] = 0
    output: Annotated[float, Field(ge=0)] = 0
    cached: Annotated[float, Field(ge=0)] | None = None
    cache_write: Annotated[float, Field(ge=0)] | None = None
    currency: str = "USD"


class ThinkingSettings(Section):
    """How much a model thinks where it is asked to: tokens, or an effort in the provider's own words."""

    budget: Annotated[int, Field(ge=1)] | None = None
    effort: Annotated[str, Field(pattern=r"^[a-z_-]{1,32}$")] | None = None


class ModelSettings(Section):
    """A route: models whose names begin with `prefix` go to `baseUrl` in a dialect. Times in seconds.

    `apiKeys`: more keys, used in turn. `rpm`, `tpm`: requests and tokens a minute. `fallback`: models asked instead.
    `mapping`: the protocol, where the dialect is "mapped".
    """

    prefix: str
    dialect: Annotated[str, Field(min_length=1)] = "openai"
    base_url: str
    api_key: str = Field(default="", repr=False)
    api_keys: list[str] = Field(default=[], repr=False)
    headers: dict[str, str] = Field(default={}, repr=False)
    thinking: ThinkingSettings | None = None
    rpm: Count | None = None
    tpm: Count | None = None
    fallback: list[str] = []
    mapping: ProtocolMapping | None = None
    capabilities: dict[str, Any] = {}
    price: PriceSettings | None = None
    retries: Annotated[int, Field(ge=0, le=10)] = 2
    connect_timeout: Positive = 5
    first_token_timeout: Positive = 60
    idle_timeout: Positive = 60


class PromptSettings(Section):
    """`file` replaces the harness's own system prompt."""

    file: str | None = None


class AgentSettings(Section):
    """An agent; `tools`, `subagents`, `skills` absent: all there are. `roles`: who has none of them may not use it."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
    model: str = ""
    instructions: str = ""
    tools: list[str] | None = None
    roles: list[Identity] = []
    subagents: list[str] | None = None
    skills: list[str] | None = None


class LimitSettings(Section):
    """What one run may take. Times in seconds, results in characters; `recall` offers the rest of shortened ones."""

    max_tool_calls: Count = 150
    max_calls_per_tool: Count = 40
    max_rounds: Count = 25
    tool_timeout: Positive = 60
    session_model_calls: Count = 8
    model_calls_per_minute: Count | None = None
    tool_result_limit: Annotated[int, Field(ge=100)] = 20_000
    output_repairs: Annotated[int, Field(ge=0, le=20)] = 2
    recall: bool = True
    threads: Count = 32
    max_depth: Annotated[int, Field(ge=0, le=8)] = 1


class BreakerSettings(Section):
    """After `threshold` failed calls in a row a tool is left alone for `cooldown` seconds. Without one: never."""

    threshold: Count | None = 5
    cooldown: Positive = 30


class SecretsSettings(Section):
    """`key` encrypts what a run needs to survive a restart. Of a list the first encrypts, all decrypt."""

    key: str | list[str] = Field(default="", repr=False)

    @field_validator("key")
    @classmethod
    def _long(cls, key: str | list[str]) -> str | list[str]:
        keys = [key] if isinstance(key, str) else key
        if any(0 < len(each) < SHORTEST_KEY for each in keys):
            raise ValueError(f"a key has {SHORTEST_KEY} characters or more; `openssl rand -hex 32` makes one")
        return key

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys there are."""
        return tuple(each for each in ([self.key] if isinstance(self.key, str) else self.key) if each)


class SandboxSettings(Section):
    """Where tools that run code work. Times in seconds; memory and disk in bytes, also written 512m or 1g.

    `image`: Docker's. `root`: a folder that bubblewrap shows as the system; None: the one that `talaria sandbox build`
    made, else this machine's own. `runtime`: another one of Docker's, such as runsc. `idle`: after so long unused a
    sandbox ends; its workspace stays for `keep`. `max` run at once. `spares` are started ahead. `network`: none, or
    egress to the hosts in `egress` ("pypi.org", "*.example.com", "host:443"). `state`: the folder for workspaces and
    what else must be found again.
    """

    kind: Literal["auto", "docker", "bubblewrap", "none"] = "auto"
    image: str = "talaria-sandbox"
    root: str | None = None
    runtime: str | None = None
    idle: Positive = 900
    keep: Positive = 86_400
    max: Count = 50
    spares: Annotated[int, Field(ge=0, le=20)] = 0
    memory: Bytes = 512 * 1024 * 1024
    cpus: Positive = 1
    pids: Annotated[int, Field(ge=16)] = 256
    disk: Bytes = 1024 * 1024 * 1024
    network: Literal["none", "egress"] = "none"
    egress: list[str] = []
    state: str | None = None


class ArtifactSettings(Section):
    """Where files that people hand over and get are kept: file:folder or s3://bucket/prefix. `ttl` in seconds."""

    url: str = "file:./artifacts"
    max_bytes: Count = 100_000_000
    ttl: Positive | None = 604_800


class SubagentSettings(Section):
    """Subagents that agents may give tasks to: files of Markdown, or folders of them. `builtin`: talaria's own, too."""

    builtin: bool = False
    paths: list[str] = []


class SkillSettings(Section):
    """Skills: folders and zips of one skill each, or folders of those. `cache`: the folder for downloaded ones."""

    paths: list[str] = []
    cache: str | None = None


class FetchSettings(Section):
    """URLs that requests name: private addresses are asked where `allowPrivate` says so, and loopback.

    True stands for all of them; a list names hosts: "dify.example.com", "host:8443", "10.1.0.0/16". `maxBytes`: of an
    answer. `timeout`: seconds for a download.
    """

    allow_private: bool | list[str] = False
    max_bytes: Bytes = 20_000_000
    timeout: Positive = 30


class MemorySettings(Section):
    """How much agents may keep of a user, for each assistant."""

    max_files: Count = 100
    max_file_bytes: Count = 16_384
    max_bytes: Count = 131_072


class SessionSettings(Section):
    """How long sessions last, in seconds; None: for ever.

    After `idleTtl` without a turn, and `absoluteTtl` after it began, a session is over: what was said in it is neither
    shown nor used any more, and the next turn begins it anew. `retention` after its last turn it is deleted.
    """

    idle_ttl: Positive | None = None
    absolute_ttl: Positive | None = None
    retention: Positive | None = 90 * 24 * 3600


class AuditSettings(Section):
    """How many seconds decisions stay in the audit; None: for ever."""

    retention: Positive | None = None


class TelemetrySettings(Section):
    """Logs, and a folder for transcripts of every round."""

    logs: Literal["console", "json"] = "console"
    transcripts: str | None = None


class Settings(Section):
    """All of talaria.yaml."""

    server: ServerSettings = ServerSettings()
    store: StoreSettings = StoreSettings()
    live: LiveSettings = LiveSettings()
    engine: EngineSettings = EngineSettings()
    models: list[ModelSettings] = []
    default_model: str = ""
    prompt: PromptSettings = PromptSettings()
    agents: list[AgentSettings] = []
    approval: ApprovalSettings = ApprovalSettings()
    policy: PolicySettings = PolicySettings()
    limits: LimitSettings = LimitSettings()
    quotas: QuotaSettings = QuotaSettings()
    breaker: BreakerSettings = BreakerSettings()
    secrets: SecretsSettings = SecretsSettings()
    subagents: SubagentSettings = SubagentSettings()
    skills: SkillSettings = SkillSettings()
    fetch: FetchSettings = FetchSettings()
    sandbox: SandboxSettings = SandboxSettings()
    artifacts: ArtifactSettings = ArtifactSettings()
    databases: dict[DatabaseName, DatabaseSettings] = {}
    memory: MemorySettings = MemorySettings()
    sessions: SessionSettings = SessionSettings()
    auth: AuthSettings = AuthSettings()
    audit: AuditSettings = AuditSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    notify: list[NotifySettings] = []
    plugins: list[str] = []
