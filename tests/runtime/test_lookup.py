"""Looking things up: what there is, for whom, page by page."""

import pytest

from talaria import Agent, Principal
from talaria.core.errors import Forbidden, InvalidRequest, NotFound
from talaria.core.ids import SessionKey
from talaria.journal.rebuild import rebuild_index
from talaria.ports.journal import Put
from talaria.runtime import listing
from talaria.testing.scripted_model import Call, Cut, Say, ScriptedModel
from tests.runtime.tools import Shop
from tests.runtime.world import ME, world

ALL = Principal(everyone=True)


async def test_sessions_are_listed_newest_first_page_by_page(store: str) -> None:
    async with world(ScriptedModel(script=lambda _: Say("Hi.")), store=store) as here:
        for at in range(5):
            await here.ask(f"Question {at}", session_id=f"s-{at}", assistant_id="x" if at == 4 else None)
            here.clock.move(1)
        first = await here.parts.lookup.sessions(ME, limit=2)
        second = await here.parts.lookup.sessions(ME, first["next"], limit=2)
        third = await here.parts.lookup.sessions(ME, second["next"], limit=2)
        pages = [*first["sessions"], *second["sessions"], *third["sessions"]]
        assert [item["sessionId"] for item in pages] == ["s-4", "s-3", "s-2", "s-1", "s-0"]
        assert pages[0]["assistantId"] == "x"
        assert "next" not in third
        for cursor in ("x", "1", "~", "9" * 16 + "~a"):
            with pytest.raises(InvalidRequest):
                await here.parts.lookup.sessions(ME, cursor)


async def test_everybody_sees_what_is_theirs(store: str) -> None:
    async with world(ScriptedModel(script=lambda _: Say("Hi.")), store=store) as here:
        mine = await here.send()
        await here.events(mine)
        theirs = await here.submit(principal=Principal(user="bob"))
        other = Principal(tenant="other")
        assert (await here.parts.lookup.sessions(other))["sessions"] == []
        assert len((await here.parts.lookup.sessions(ALL))["sessions"]) >= 1
        with pytest.raises(NotFound):
            await here.parts.lookup.run(ME, theirs.run_id)
        with pytest.raises(NotFound):
            await here.parts.lookup.run(other, mine)
        assert (await here.parts.lookup.run(ALL, mine))["status"] == "finished"


async def test_a_session_that_several_users_have_must_be_named_better() -> None:
    async with world(ScriptedModel(script=lambda _: Say("Hi."))) as here:
        await here.ask(assistant_id="y")
        await here.ask(assistant_id="x")
        with pytest.raises(InvalidRequest, match="2 sessions"):
            await here.parts.lookup.session(ME, "s-1")
        with pytest.raises(NotFound):
            await here.parts.lookup.session(ME, "s-1", "")
        await here.ask()
        for none in (None, ""):
            assert "assistantId" not in await here.parts.lookup.session(ME, "s-1", none)
            assert "assistantId" not in await here.parts.lookup.session(ALL, "s-1", none)
        assert (await here.parts.lookup.session(ME, "s-1", "x"))["assistantId"] == "x"
        with pytest.raises(NotFound):
            await here.parts.lookup.session(ME, "s-1", "z")


async def test_a_run_says_how_it_stands(store: str) -> None:
    async with world(ScriptedModel(Call("refund"), Cut("Hm")), tools=Shop().tools, store=store) as here:
        run_id = await here.send()
        await here.stands(run_id, "waiting_approval")
        view = await here.parts.lookup.run(ME, run_id)
        assert (view["status"], len(view["approvals"])) == ("waiting_approval", 1)
        session = await here.parts.lookup.session(ME, "s-1")
        assert (session["activeRun"], len(session["approvals"])) == (run_id, 1)
        await here.decide(view["approvals"][0]["requestId"])
        await here.stands(run_id, "finished")
        assert (await here.parts.lookup.run(ME, run_id))["reason"] == "stream_truncated"


async def test_of_very_many_questions_none_is_left_out(store: str) -> None:
    async with world(ScriptedModel(script=lambda _: Call("refund")), tools=Shop().tools, store=store) as here:
        run_id = await here.send()
        await here.stands(run_id, "waiting_approval")
        mine = (await here.parts.lookup.run(ME, run_id))["approvals"]
        row = (await here.store.index.find("approval"))[0]
        other = SessionKey("default", "anonymous", "-", "x").path
        await here.store.index.replace(
            other,
            [Put("approval", f"apr_{at}", other, row.scope, row.at + 1 + at // 3, row.data) for at in range(2_500)],
        )
        assert (await here.parts.lookup.session(ME, "s-1"))["approvals"] == mine
        questions = await here.parts.lookup.approvals(ME)
        assert len(questions) == 2_501
        assert questions[0] == mine[0]
        assert questions[1]["requestId"] == "apr_0"


async def test_a_session_shows_its_own_questions(store: str) -> None:
    async with world(ScriptedModel(script=lambda _: Call("refund")), tools=Shop().tools, store=store) as here:
        for assistant in (None, "x"):
            run_id = await here.send(assistant_id=assistant)
            await here.stands(run_id, "waiting_approval")
            [question] = (await here.parts.lookup.session(ME, "s-1", assistant))["approvals"]
            assert question["runId"] == run_id


async def test_a_new_stream_looks_its_run_up_once() -> None:
    async with world(ScriptedModel(Say("Hi."))) as here:
        get, asked = here.store.index.get, list[str]()

        async def counted(kind: str, key: str) -> Put | None:
            asked.append(kind)
            return await get(kind, key)

        here.store.index.get = counted
        assert [event.type async for event in here.runtime.stream(Agent("a"), "Go")][-1] == "finish"
        assert asked.count("run") <= 1


async def test_who_speaks_is_checked() -> None:
    async with world(ScriptedModel(script=lambda _: Say("Hi."))) as here:
        with pytest.raises(Forbidden):
            await here.send(user_id="bob")
        assert (await here.submit(user_id="anonymous")).key.user == "anonymous"
        assert (await here.submit(user_id=7, principal=ALL)).key.user == "7"
        with pytest.raises(InvalidRequest):
            await here.submit(principal=Principal(user=""))


async def test_a_model_without_a_route_is_refused() -> None:
    models = [{"prefix": "gpt", "baseUrl": "https://x.test"}]
    async with world(ScriptedModel(script=lambda _: Say("Hi.")), models=models) as here:
        with pytest.raises(InvalidRequest, match="no model"):
            await here.send()
        with pytest.raises(InvalidRequest, match="no route for model 'claude'; there are 'gpt"):
            await here.send(model_name="claude")
        await here.ask(model_name="gpt-x")


async def test_sessions_are_found_by_the_words_of_their_beginning_and_by_their_ids(store: str) -> None:
    long = "The  Größe of my\nparcel " + "and then " * 20 + "INVOICE"
    async with world(ScriptedModel(script=lambda _: Say("zebra")), store=store) as here:
        for session, query, assistant in (
            ("s-1", long, None),
            ("s-2", "An invoice, please", "billing"),
            ("order-77", "Something else", None),
            ("s-4", "x " * 300 + "invoice", None),
        ):
            await here.ask(query, session_id=session, assistant_id=assistant)
            await here.ask("A later zebra", session_id=session, assistant_id=assistant)
            here.clock.move(1)

        async def found(search: str, principal: Principal = ME) -> list[str]:
            page = await here.parts.lookup.sessions(principal, search=search)
            return [each["sessionId"] for each in page["sessions"]]

        assert await found("invoice") == ["s-2", "s-1"]
        assert await found("  parcel   GRÖSSE ") == ["s-1"]
        assert await found("parcel billing") == []
        assert await found("billing") == ["s-2"]
        assert await found("ORDER-7") == ["order-77"]
        assert await found("zebra") == []
        assert await found("") == ["s-4", "order-77", "s-2", "s-1"]
        assert await found("invoice", Principal(user="bob")) == []
        before = await found("invoice")
        for path in await here.store.journal.sessions():
            await here.store.index.replace(path, [])
        await rebuild_index(here.store.journal, here.store.index, here.store.blobs)
        assert await found("invoice") == before


async def test_a_search_goes_on_where_it_stopped(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "LOOK", 3)
    async with world(ScriptedModel(script=lambda _: Say("Hi.")), store=store) as here:
        for at in range(8):
            await here.ask("even" if at % 2 == 0 else "odd", session_id=f"s-{at}")
            here.clock.move(1)
        for limit in (1, 2, 50):
            pages, cursor = list[list[str]](), None
            while True:
                page = await here.parts.lookup.sessions(ME, cursor, limit, "even")
                pages.append([each["sessionId"] for each in page["sessions"]])
                if (cursor := page.get("next")) is None:
                    break
            assert [each for page in pages for each in page] == ["s-6", "s-4", "s-2", "s-0"]
            assert max(len(page) for page in pages) <= min(limit, 2)
