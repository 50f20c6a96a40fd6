"""A plugin module with tools and agents, for runs that are recorded. Copied into folders of tests as `shop`."""

from talaria import Agent, AgentRequest, Reply, Session, StopRun, ToolContext, agent, tool


@tool(side_effects=False)
def find(article: str, most: int = 3) -> list[dict[str, object]]:
    """Find articles by a word of their names.

    Args:
        article: The word.
        most: How many to return at most.
    """
    return [{"name": f"{article} {n}", "price": None} for n in range(most)]


@tool(approval=True)
def refund(order_id: str, amount: int, ctx: ToolContext) -> str:
    """Pay a part of an order back.

    Args:
        order_id: The order.
        amount: How much, in cents.
    """
    return f"{amount} of {order_id} paid back with {ctx.secrets.get('apiKey', 'nothing')}"


@tool
def breaks(how: str) -> str:
    """Break in one way or another.

    Args:
        how: `stop` or `raise`.
    """
    if how == "stop":
        raise StopRun("enough")
    raise ValueError("broken")


@agent
class Porter:
    """Asks a model twice and calls a tool in between."""

    name = "porter"
    needs = frozenset({"models", "tools"})

    async def initialize(self, runtime: object) -> None: ...

    async def invoke(self, request: AgentRequest, session: Session) -> Reply:
        word = (await request.models.ask(request.query)).text
        found = await request.tools.call("find", article=word, most=1)
        return Reply(f"{found.text}; {(await request.models.ask(found.text)).text}")

    async def destroy(self) -> None: ...


CLERK = Agent("clerk", tools=[find, refund, breaks])
