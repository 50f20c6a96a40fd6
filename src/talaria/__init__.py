"""Talaria: the place where LLM agents run in production."""

from talaria.agents.own import AgentRequest, AgentRuntime, agent
from talaria.agents.own_parts import Reply
from talaria.core.errors import StopRun, TalariaError
from talaria.core.events import ChatEvent
from talaria.core.principal import Principal
from talaria.core.usage import Usage
from talaria.runtime.agent import Agent
from talaria.runtime.results import RunResult
from talaria.runtime.runtime import Runtime
from talaria.tools.context import ToolContext
from talaria.tools.declaration import Tool, tool
from talaria.tools.own_stages import StageCall, StageResult, stage
from talaria.tools.session import Session

__all__ = [
    "Agent",
    "AgentRequest",
    "AgentRuntime",
    "ChatEvent",
    "Principal",
    "Reply",
    "RunResult",
    "Runtime",
    "Session",
    "StageCall",
    "StageResult",
    "StopRun",
    "TalariaError",
    "Tool",
    "ToolContext",
    "Usage",
    "agent",
    "stage",
    "tool",
]
