"""With a key, the secrets of a run survive a restart, encrypted; they go with the run."""

from pathlib import Path
from typing import Any

import pytest
import structlog

from talaria import ToolContext, tool
from talaria.core.errors import ConfigurationError
from talaria.journal.entries import Audited
from talaria.journal.index import SEALED
from talaria.runtime.configure import read_settings
from talaria.runtime.sealing import Seals
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.world import ME, SESSION, World, end_of, world

KEY, OTHER = "a key of some length", "another key, no less long"
SECRET = "s3cret-value-of-the-request"


class Till:
    def __init__(self) -> None:
        self.seen: list[str] = []

    @tool(approval=True)
    async def pay(self, ctx: ToolContext) -> str:
        """Pay."""
        self.seen.append(ctx.secrets["apiKey"])
        return f"paid with {ctx.secrets['apiKey']}"


async def parked(here: World, **fields: Any) -> str:
    run_id = await here.send(tool_context={"apiKey": SECRET}, **fields)
    await here.stands(run_id, "waiting_approval")
    return run_id


async def sealed(here: World) -> int:
    return len(await here.store.index.find(SEALED))


def in_files(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


async def test_a_run_goes_on_after_a_restart_with_its_secrets_and_then_they_are_gone(
    sqlite: str, tmp_path: Path
) -> None:
    till = Till()
    async with world(ScriptedModel(Call("pay")), tools=[till], store=sqlite, secrets={"key": KEY}) as here:
        run_id = await parked(here)
        assert await sealed(here) == 1
    assert SECRET.encode() not in in_files(tmp_path)
    async with world(ScriptedModel(Say("Paid.")), tools=[till], store=sqlite, secrets={"key": KEY}) as here:
        await here.decide(await here.question(run_id))
        events = await here.events(run_id)
        assert end_of(events) == ("finish", "stop")
        assert "paid with [masked]" in str(events)
        assert await sealed(here) == len(here.parts.kit.secrets) == 0
    assert till.seen == [SECRET]
    assert SECRET.encode() not in in_files(tmp_path)


async def test_an_old_key_still_opens_while_a_new_one_seals(sqlite: str) -> None:
    till = Till()
    async with world(ScriptedModel(Call("pay")), tools=[till], store=sqlite, secrets={"key": KEY}) as here:
        run_id = await parked(here)
    async with world(ScriptedModel(Say("Paid.")), tools=[till], store=sqlite, secrets={"key": [OTHER, KEY]}) as here:
        await here.decide(await here.question(run_id))
        assert end_of(await here.events(run_id)) == ("finish", "stop")
    assert till.seen == [SECRET]


@pytest.mark.parametrize("key", [OTHER, ""])
async def test_without_the_right_key_the_run_ends_and_the_operator_is_told(sqlite: str, key: str) -> None:
    till = Till()
    async with world(ScriptedModel(Call("pay")), tools=[till], store=sqlite, secrets={"key": KEY}) as here:
        run_id = await parked(here)
    with structlog.testing.capture_logs() as logs:
        async with world(ScriptedModel(Say("On.")), tools=[till], store=sqlite, secrets={"key": key}) as here:
            await here.decide(await here.question(run_id))
            events = await here.events(run_id)
            assert end_of(events) == ("error", "secrets_lost")
            assert "apiKey" in str(events[-1].data)
            assert await sealed(here) == 0
            (entry,) = [each for each in await here.entries() if isinstance(each, Audited)]
            assert (entry.action, entry.outcome) == ("secrets", "refused")
            assert end_of(await here.ask()) == ("finish", "stop")
    told = next(log for log in logs if log["event"] == "secrets_unreadable")
    assert "secrets.key" in told["advice"]
    assert till.seen == []


async def test_secrets_go_with_their_session(store: str) -> None:
    async with world(ScriptedModel(Call("pay")), tools=[Till()], store=store, secrets={"key": KEY}) as here:
        await parked(here)
        await here.parts.deletion.delete(ME, SESSION)
        assert await sealed(here) == 0


async def test_a_request_that_was_not_admitted_leaves_nothing(store: str) -> None:
    async with world(ScriptedModel(Call("pay")), tools=[Till()], store=store, secrets={"key": KEY}) as here:
        first = await parked(here, idempotency_key="k")
        assert await parked(here, idempotency_key="k") == first
        assert await sealed(here) == 1


def test_a_seal_holds_for_one_run_of_one_tenant_and_any_change_breaks_it() -> None:
    seals = Seals([KEY])
    data = seals.seal({"apiKey": SECRET}, "run_1", "acme")
    assert data is not None
    assert seals.open(data, "run_1", "acme") == {"apiKey": SECRET}
    assert seals.seal({"apiKey": SECRET}, "run_1", "acme") != data
    for run, tenant in (("run_2", "acme"), ("run_1", "other"), ("run_1\x00acme", "")):
        assert seals.open(data, run, tenant) is None
    for broken in (b"", b"\x01", data[:-1], data[:20] + bytes([data[20] ^ 1]) + data[21:], b"\x02" + data[1:]):
        assert seals.open(broken, "run_1", "acme") is None
    assert Seals([OTHER]).open(data, "run_1", "acme") is None
    assert Seals([OTHER, KEY]).open(data, "run_1", "acme") == {"apiKey": SECRET}
    assert Seals([]).seal({"a": "b"}, "r", "t") is None


def test_a_key_that_is_too_short_is_refused_and_no_key_is_ever_shown() -> None:
    with pytest.raises(ConfigurationError, match="16 characters") as failure:
        read_settings({"secrets": {"key": "sh0rt"}})
    assert "sh0rt" not in str(failure.value)
    settings = read_settings({"secrets": {"key": KEY}})
    assert KEY not in repr(settings) + str(settings)
