"""A server whose logins are tokens, and who knocks at it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from talaria import tool
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Say, ScriptedModel
from tests.server.client import Reply
from tests.server.provider import Idp, identity_provider
from tests.server.serving import Served, serving


class Door(NamedTuple):
    """A server, the provider that it trusts, and its clock."""

    served: Served
    idp: Idp
    clock: FakeClock

    async def knock(self, token: str) -> Reply:
        return await self.served.client.get("/ai-api/tools", headers={"authorization": f"Bearer {token}"})

    async def who(self, token: str) -> tuple[str, int]:
        """Run a turn; return its user, and how many of the tools for the role `cook` there are."""
        headers = {"authorization": f"Bearer {token}"}
        sent = await self.served.client.post("/ai-api/chat/stream", {"query": "Hello"}, headers=headers)
        assert sent.status == 200, sent.body
        (session,) = (await self.served.client.get("/ai-api/sessions", headers=headers)).json["sessions"]
        names = [each["name"] for each in (await self.knock(token)).json["tools"]]
        return session["userId"], names.count("cook")


@tool(permission="cook")
async def cook() -> str:
    """Cook something."""
    return "soup"


@asynccontextmanager
async def door(**auth: Any) -> AsyncGenerator[Door]:
    clock = FakeClock()
    async with (
        identity_provider() as idp,
        serving(ScriptedModel(Say("Hi.")), tools=[cook], clock=clock, auth=idp.auth(**auth)) as served,
    ):
        yield Door(served, idp, clock)


def refused(answer: Reply) -> None:
    assert (answer.status, answer.json["code"]) == (401, "unauthenticated"), answer.body
    assert answer.headers["www-authenticate"].startswith("Bearer")


def unsure(answer: Reply) -> None:
    assert (answer.status, answer.json["code"]) == (503, "overloaded"), answer.body
    assert int(answer.headers["retry-after"]) > 0
