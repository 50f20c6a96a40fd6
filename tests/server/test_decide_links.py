"""Links that decide: only pressing a button decides, once, as the person the link was made for."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from talaria.journal.index import AUDIT
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.notify.receiver import SECRET, receiver
from tests.polling import eventually
from tests.runtime.test_secrets import files_below
from tests.server.client import Reply
from tests.server.serving import Served, Shop, parked, serving, status

PUBLIC = "https://agents.example.com/talaria"
CALL = Call("refund", {"order_id": "<b>42</b>", "amount": 40})


class Linked(NamedTuple):
    """A server with an open question, and the path of the link that was sent for it."""

    served: Served
    shop: Shop
    clock: FakeClock
    there: str
    run: str
    request_id: str
    path: str

    async def press(self, decision: str) -> Reply:
        return await self.served.client.post(f"{self.path}?decision={decision}", None)


@asynccontextmanager
async def linked(**fields: Any) -> AsyncGenerator[Linked]:
    shop, clock = Shop(), FakeClock()
    store, call = fields.pop("store", "memory://"), fields.pop("call", CALL)
    rest = fields.pop("config", {})
    async with receiver() as there:
        target = {"on": ["approval_request"], "url": there.url, "secret": SECRET} | fields
        config: dict[str, Any] = {"notify": [target], "server": {"publicUrl": PUBLIC}, "store": {"url": store}} | rest
        async with serving(ScriptedModel(call, Say("Done.")), tools=shop.tools(), clock=clock, **config) as served:
            async with served.client.chat(sessionId="s") as stream:
                request_id = str((await stream.until("approval_request")).data["data"])
                run = stream.headers["x-run-id"]
            await parked(served, run)
            (got,) = await there.has(1)
            url = str(got.json["data"]["url"])
            assert url.startswith(f"{PUBLIC}/ai-api/decide/")
            yield Linked(served, shop, clock, there.url, run, request_id, url.removeprefix(PUBLIC))


def says_nothing(reply: Reply, code: int) -> None:
    """A page without any detail."""
    assert (reply.status, reply.headers["content-type"]) == (code, "text/html; charset=utf-8")
    assert b"not valid" in reply.body
    assert b"refund" not in reply.body
    assert b"<button" not in reply.body


async def test_looking_shows_what_is_asked_and_decides_nothing() -> None:
    async with linked() as here:
        for method in ("HEAD", "GET", "HEAD"):
            await here.served.client.request(method, here.path)
        head = await here.served.client.request("HEAD", here.path)
        page = await here.served.client.get(here.path)
        assert (page.status, head.status) == (200, 200)
        text = page.body.decode()
        assert "refund" in text
        assert "&lt;b&gt;42&lt;/b&gt;" in text
        assert "<b>42" not in text
        assert "You decide as anonymous, until 2027-01-15 08:05:00 UTC" in text
        view = await here.served.client.get(f"/ai-api/runs/{here.run}")
        assert view.json["status"] == "waiting_approval"
    assert here.shop.refunds == []


async def test_the_page_loads_nothing_and_gives_nothing_away() -> None:
    async with linked() as here:
        page = await here.served.client.get(here.path)
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "form-action 'self'; frame-ancestors 'none'" in policy
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["x-robots-tag"] == "noindex, nofollow"
    assert page.headers["cache-control"] == "no-store"
    assert re.search(rb"<script|<img|<link|src=|https?://", page.body) is None


async def test_pressing_decides_once_and_is_on_record_with_the_link() -> None:
    async with linked() as here:
        reply = await here.press("approve")
        assert reply.status == 200
        assert "Approved" in reply.body.decode()
        await status(here.served, here.run, "finished")
        says_nothing(await here.press("approve"), 410)
        says_nothing(await here.press("decline"), 410)
        says_nothing(await here.served.client.get(here.path), 410)
        rows = await here.served.runtime.parts.kit.store.index.find(AUDIT)
        (row,) = [row.data for row in rows if b'"approval"' in row.data]
        assert b'"rule":"link"' in row
        assert b'"by":"anonymous"' in row
    assert here.shop.refunds == [("<b>42</b>", 40)]


async def test_a_refusal_runs_nothing() -> None:
    async with linked() as here:
        reply = await here.press("decline")
        assert (reply.status, "Declined" in reply.body.decode()) == (200, True)
        await status(here.served, here.run, "finished")
    assert here.shop.refunds == []


async def test_of_many_at_once_one_decides() -> None:
    async with linked() as here:
        replies = await asyncio.gather(*[here.press(("approve", "decline")[at % 2]) for at in range(40)])
        await status(here.served, here.run, "finished")
    codes = [reply.status for reply in replies]
    assert set(codes) <= {200, 409, 410}
    outcomes = {word for reply in replies for word in ("Approved", "Declined") if word in reply.body.decode()}
    assert len(outcomes) == 1
    assert len(here.shop.refunds) == (outcomes == {"Approved"})


async def test_a_decision_by_other_means_ends_the_link() -> None:
    async with linked() as here:
        await here.served.client.post(
            "/ai-api/chat/approval", {"requestId": here.request_id, "decision": "DECLINE", "comment": "no"}
        )
        says_nothing(await here.press("approve"), 410)
    assert here.shop.refunds == []


async def test_a_link_ends_with_its_question() -> None:
    async with linked() as here:
        here.clock.pass_unnoticed(300)
        says_nothing(await here.served.client.get(here.path), 410)
        says_nothing(await here.press("approve"), 410)
        here.clock.move(1)
        await status(here.served, here.run, "finished")
        says_nothing(await here.press("approve"), 410)
    assert here.shop.refunds == []


@pytest.mark.parametrize("touched", ["{0}A", "x{0}", "x", "%00", "%ED%A0%80"])
async def test_a_token_that_was_touched_is_none(touched: str) -> None:
    async with linked() as here:
        place, _, token = here.path.rpartition("/")
        for each in (touched.format(token), token[:-1], token.swapcase()):
            path = f"{place}/{each}"
            says_nothing(await here.served.client.get(path), 404)
            says_nothing(await here.served.client.post(f"{path}?decision=approve", None), 404)
        view = await here.served.client.get(f"/ai-api/runs/{here.run}")
        assert view.json["status"] == "waiting_approval"


async def test_somebody_who_may_not_decide_gets_the_notice_without_a_link() -> None:
    shop = Shop()
    async with receiver() as there:
        target = {"on": ["approval_request"], "url": there.url, "secret": SECRET, "approver": {"user": "mallory"}}
        config: dict[str, Any] = {"notify": [target], "server": {"publicUrl": PUBLIC}}
        async with serving(ScriptedModel(CALL, Say("Done.")), tools=shop.tools(), **config) as served:
            async with served.client.chat(sessionId="s") as stream:
                await stream.until("approval_request")
            (got,) = await there.has(1)
            assert "url" not in got.json["data"]
            assert await served.runtime.parts.kit.store.index.find("link") == []
    assert shop.refunds == []


async def test_a_button_that_is_none_is_refused() -> None:
    async with linked() as here:
        assert (await here.press("maybe")).status == 422
        assert (await here.served.client.post(here.path, None)).status == 422
        assert (await here.press("approve")).status == 200


async def test_the_store_does_not_hold_the_token(tmp_path: Path) -> None:
    async with linked(store=f"sqlite:///{tmp_path / 't.db'}") as here:
        token = here.path.rpartition("/")[2].encode()
    assert [data for data in files_below(tmp_path) if token in data] == []


async def test_links_that_have_long_been_over_are_forgotten() -> None:
    async with linked() as here:
        await here.press("approve")
        await status(here.served, here.run, "finished")
        here.clock.move(25 * 3600)
        index = here.served.runtime.parts.kit.store.index

        async def gone() -> bool:
            return not await index.find("link")

        await eventually(gone, "the link being forgotten")
        says_nothing(await here.served.client.get(here.path), 404)


async def test_a_fault_does_not_log_the_token(capsys: pytest.CaptureFixture[str]) -> None:
    async with linked(store="memory://") as here:
        index = here.served.runtime.parts.kit.store.index
        rows = await index.find("link")
        await index.put([msgspec.structs.replace(rows[0], data=b"broken")])
        assert (await here.served.client.get(here.path)).status == 500
    said = "".join(capsys.readouterr())
    assert "request_failed" in said
    assert here.path.rpartition("/")[2] not in said


async def test_the_page_shows_the_whole_call_and_what_is_not_seen_in_it() -> None:
    call = Call("refund", {"order_id": "x" * 10_000 + "\u202eTHE END\U000e0041", "amount": 40})
    async with linked(call=call) as here:
        text = (await here.served.client.get(here.path)).body.decode()
    assert "\\u202eTHE END\\udb40\\udc41" in text
    assert "&quot;amount&quot;:40" in text
    assert not {"\u202e", "\U000e0041"} & set(text)


@pytest.mark.parametrize("now", [None, {"user": "ann", "roles": ["chief"]}, {"user": "bob", "roles": ["boss"]}])
async def test_a_link_ends_when_its_approver_is_none_any_more(tmp_path: Path, now: dict[str, Any] | None) -> None:
    store = f"sqlite:///{tmp_path / 't.db'}"
    ann: dict[str, Any] = {"user": "ann", "roles": ["boss"]}
    rest: dict[str, Any] = {"approval": {"approvers": ["boss", "chief"]}}
    keys = [{"key": "0123456789abcdef", "user": "ann", "roles": ["boss"]}]
    rest["auth"] = {"kind": "keys", "keys": keys}
    async with linked(store=store, approver=ann, config={"approval": {"approvers": ["boss"]}}) as here:
        path, there, shop = here.path, here.there, here.shop
    target: dict[str, Any] = {"on": ["approval_request"], "url": there, "secret": SECRET}
    for approver, code in ((now, 410), (ann, 200)):
        notify = [target | ({} if approver is None else {"approver": approver})]
        config: dict[str, Any] = rest | {"notify": notify, "server": {"publicUrl": PUBLIC}, "store": {"url": store}}
        async with serving(ScriptedModel(Say("Done.")), tools=shop.tools(), **config) as served:
            assert (await served.client.get(path)).status == code
            assert (await served.client.post(f"{path}?decision=approve", None)).status == code
