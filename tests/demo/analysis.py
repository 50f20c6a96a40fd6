"""Lets the scripted analyst work in this process: its calls run against real services, nothing else is between them."""

import json
from typing import Any

from talaria import ToolContext
from talaria.demo.agent import INSTRUCTIONS
from talaria.demo.data import World
from talaria.demo.tools import TOKEN as TOKEN_NAME
from talaria.demo.tools import query_alerts, query_logs
from talaria.testing.ops_report.script import analyst
from talaria.testing.steps import Step
from talaria.tools.arguments import bind
from talaria.tools.result import result_text
from tests.demo.ground import SENT, TOKEN, serving

CONTEXT = ToolContext(secrets={TOKEN_NAME: TOKEN})
TOOLS = {each.name: each for each in (query_alerts, query_logs)}


def opening(text: str = f"Generate yesterday's operations report.\n\n{SENT}") -> list[dict[str, Any]]:
    return [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": text}]


async def call(name: str, arguments: dict[str, Any]) -> str:
    tool = TOOLS[name]
    return result_text(await tool.call(bind(tool, arguments), CONTEXT))


async def turn(messages: list[dict[str, Any]]) -> list[Step]:
    """Go on until there is an answer; `messages` grows as a conversation does."""
    steps = [analyst({"messages": messages})]
    while calls := steps[-1].calls:
        made = [(f"call_{len(steps)}_{n}", name, arguments) for n, (name, arguments) in enumerate(calls)]
        functions = [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for id_, name, arguments in made
        ]
        messages.append({"role": "assistant", "content": steps[-1].text, "tool_calls": functions})
        for id_, name, arguments in made:
            messages.append({"role": "tool", "tool_call_id": id_, "content": await call(name, arguments)})
        steps.append(analyst({"messages": messages}))
    return steps


async def analyse(records: World, environ: Any, lost_page: int = 0) -> list[Step]:
    """All steps of a report on yesterday; `environ` is pytest's monkeypatch."""
    async with serving("alerts", records, lost_page) as (_, alerts), serving("logs", records, lost_page) as (_, logs):
        environ.setenv("OPS_ALERTS_URL", str(alerts.make_url("")))
        environ.setenv("OPS_LOGS_URL", str(logs.make_url("")))
        return await turn(opening())
