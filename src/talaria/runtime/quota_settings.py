"""The section `quotas` of the configuration: how much may be used."""

from talaria.runtime.section import Count, Positive, Section


class CallBudget(Section):
    """How many tool calls there may be in a minute, an hour, a day."""

    calls_per_minute: Count | None = None
    calls_per_hour: Count | None = None
    calls_per_day: Count | None = None


class UseBudget(CallBudget):
    """How much may be used in a minute, an hour, a day. Cost is in the currency of the prices."""

    requests_per_minute: Count | None = None
    requests_per_hour: Count | None = None
    requests_per_day: Count | None = None
    tokens_per_minute: Count | None = None
    tokens_per_hour: Count | None = None
    tokens_per_day: Count | None = None
    cost_per_minute: Positive | None = None
    cost_per_hour: Positive | None = None
    cost_per_day: Positive | None = None


class QuotaSettings(Section):
    """How much tenants, agents, users and tools may use; "*" is each one that has no entry of its own.

    `tools`: names, groups (`group:files`) and patterns (`mcp__*`). `answerTokens`: the longest answer of a model call
    without maxTokens, where a quota counts tokens or cost.
    """

    tenants: dict[str, UseBudget] = {}
    agents: dict[str, UseBudget] = {}
    users: dict[str, UseBudget] = {}
    tools: dict[str, CallBudget] = {}
    answer_tokens: Count = 8192
