"""Without a login the server answers under this machine's names only."""

import pytest

from talaria.testing.scripted_model import Say, ScriptedModel
from tests.server.serving import serving

OURS = (
    "localhost",
    "localhost:8000",
    "LOCALHOST.:1",
    "127.0.0.1",
    "127.8.8.8:99",
    "[::1]",
    "[::1]:8000",
    "agents.corp",
)
OTHERS = ("evil.test", "evil.test:8000", "127.0.0.1.evil.test", "10.0.0.5", "[::2]:1", "localhost.evil.test", "a:b:c")


@pytest.mark.parametrize("host", OURS)
async def test_our_own_names_and_those_listed_are_answered(host: str) -> None:
    async with serving(ScriptedModel(Say("x")), server={"allowedHosts": ["agents.corp"]}) as served:
        answer = await served.client.request("GET", "/ai-api/sessions", headers={"host": host})
    assert answer.status == 200


@pytest.mark.parametrize("host", OTHERS)
async def test_a_page_that_rebinds_its_name_to_this_machine_gets_nothing(host: str) -> None:
    async with serving(ScriptedModel(Say("x"))) as served:
        answer = await served.client.request("GET", "/ai-api/sessions", headers={"host": host})
    assert (answer.status, answer.json["code"]) == (403, "forbidden")
    assert "server.allowedHosts" in answer.json["detail"]
