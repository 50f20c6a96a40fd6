"""What there is to choose from: models, tools and agents."""

from inline_snapshot import snapshot

from talaria import Agent, tool
from talaria.server import answers
from talaria.testing.scripted_model import ScriptedModel
from talaria.tools.ask_user import ASK_USER
from talaria.tools.memory import MEMORY_TOOL
from talaria.tools.todo_write import TODO_WRITE
from tests.server.serving import Shop, serving
from tests.server.test_runs_and_sessions import exactly


@tool(permission="admin")
async def close_shop() -> str:
    """Close the shop."""
    return "closed"


async def test_the_named_models_are_listed_the_default_one_first() -> None:
    models = [{"prefix": "a", "baseUrl": "http://127.0.0.1:1/v1", "fallback": ["a-2"]}]
    async with serving(ScriptedModel(), models=models, defaultModel="a-1", agents=[Agent("x", model="a-2")]) as served:
        view = (await served.client.get("/ai-api/models")).json
    assert exactly(answers.ModelList, view) == snapshot(
        {"models": [{"name": "a-1"}, {"name": "a-2"}], "prefixes": ["a"], "default": "a-1"}
    )


async def test_only_tools_that_one_may_call_are_listed() -> None:
    async with serving(ScriptedModel(), tools=[*Shop().tools(), close_shop]) as served:
        view = (await served.client.get("/ai-api/tools")).json
    assert exactly(answers.ToolList, view) == (
        {
            "tools": [
                {"name": "refund", "description": "Refund part of an order.", "approval": True},
                {"name": "look_up", "description": "Look up an order."},
                {"name": "AskUser", "description": ASK_USER.description},
                {"name": "TodoWrite", "description": TODO_WRITE.description, "group": "plan"},
                {"name": "memory", "description": MEMORY_TOOL.description, "group": "memory"},
            ]
        }
    )


async def test_agents_are_listed_the_default_one_first() -> None:
    async with serving(ScriptedModel(), agents=[Agent("one", model="m"), Agent("two")]) as served:
        view = (await served.client.get("/ai-api/agents")).json
    async with serving(ScriptedModel()) as served:
        bare = (await served.client.get("/ai-api/agents")).json
    assert [exactly(answers.AgentList, each) for each in (view, bare)] == snapshot(
        [{"agents": [{"name": "one", "modelName": "m"}, {"name": "two"}]}, {"agents": [{"name": "assistant"}]}]
    )
