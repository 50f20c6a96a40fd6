"""What a run has used in one minute, counted of its entries: an index row, so that it can be made again.

By the minute, so that every minute, hour and day of every time zone is a sum of whole rows.
"""

import msgspec

from talaria.core.usage import Usage
from talaria.journal.entries import TurnStarted

MINUTE = 60_000
"""In ms."""


class Spent(msgspec.Struct, gc=False, omit_defaults=True):
    """What the calls of one model took. `estimated`: how many of the tokens no provider counted."""

    calls: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    cost: float = 0.0
    estimated: int = 0
    currency: str = ""

    @property
    def tokens(self) -> int:
        """Input and output."""
        return self.input + self.output

    def add(self, other: "Spent") -> None:
        """Add what calls of the same model took."""
        self.calls += other.calls
        self.input += other.input
        self.output += other.output
        self.cached += other.cached
        self.reasoning += other.reasoning
        self.cost += other.cost
        self.estimated += other.estimated


class UsageRow(msgspec.Struct, gc=False, omit_defaults=True):
    """What was used: by whom stands in the row's scope. `model` is the one that was asked for.

    `requests`: turns that began. `runs`: those that ended. `tools`: calls that began, by tool. `models`: by the model
    that answered.
    """

    agent: str
    model: str
    labels: dict[str, str] = {}
    requests: int = 0
    runs: int = 0
    tools: dict[str, int] = {}
    models: dict[str, Spent] = {}

    @property
    def calls(self) -> int:
        """Tool calls."""
        return sum(self.tools.values())

    @property
    def tokens(self) -> int:
        """Tokens of all models."""
        return sum(each.tokens for each in self.models.values())

    @property
    def cost(self) -> float:
        """Money of all models, where prices are known."""
        return sum(each.cost for each in self.models.values())


class Spending(msgspec.Struct, gc=False):
    """What a run has used so far, by the minute (since 1970); `minute` is the one that it is in."""

    minute: int
    rows: dict[int, UsageRow]

    @staticmethod
    def of(turn: TurnStarted) -> "Spending":
        """A run that has just begun."""
        minute = turn.at // MINUTE
        return Spending(minute, {minute: UsageRow(turn.agent, turn.model, turn.labels, requests=1)})


def count_model(spending: Spending, at: int, model: str, usage: Usage) -> None:
    """Count a model call."""
    row = _row(spending, at)
    spent = row.models.get(model)
    if spent is None:
        spent = row.models[model] = Spent()
    spent.calls += 1
    spent.input += usage.input_tokens
    spent.output += usage.output_tokens
    spent.cached += usage.cached_tokens
    spent.reasoning += usage.reasoning_tokens
    spent.cost += usage.cost or 0.0
    if usage.estimated:
        spent.estimated += usage.input_tokens + usage.output_tokens


def count_call(spending: Spending, at: int, tool: str) -> None:
    """Count a tool call that begins."""
    tools = _row(spending, at).tools
    tools[tool] = tools.get(tool, 0) + 1


def count_run(spending: Spending, at: int) -> None:
    """Count a run that has ended."""
    _row(spending, at).runs += 1


def _row(spending: Spending, at: int) -> UsageRow:
    """The row of the minute. A clock that steps back changes none that was left."""
    minute = at // MINUTE
    if minute > spending.minute:
        row = spending.rows[spending.minute]
        spending.minute = minute
        spending.rows[minute] = UsageRow(row.agent, row.model, row.labels)
    return spending.rows[spending.minute]


def add(total: UsageRow, row: UsageRow) -> None:
    """Add a row to a sum."""
    total.requests += row.requests
    total.runs += row.runs
    for tool, count in row.tools.items():
        total.tools[tool] = total.tools.get(tool, 0) + count
    for model, spent in row.models.items():
        total.models.setdefault(model, Spent()).add(spent)
