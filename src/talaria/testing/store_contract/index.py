"""The index: listings, cursors, deadlines, rebuilding."""

# ruff: noqa: D102 - the names of tests are their docstrings, and numbers are examples

from talaria.ports.journal import Batch, Drop, Put
from talaria.ports.store import Store
from talaria.testing.store_contract.opening import SESSION, Opening, keys, row


async def write(store: Store, *rows: Put, at: int = 0) -> None:
    """Write rows with an append."""
    await store.journal.append(Batch(SESSION, 1, at, (b"x",), rows))


class IndexContract(Opening):
    """`Index`."""

    async def test_a_row_is_found_by_kind_and_key(self, store: Store) -> None:
        await write(store, row("a"), row("a", kind="open"))
        assert await store.index.get("open", "a") == row("a", kind="open")
        assert await store.index.get("open", "b") is None
        assert await store.index.get("none", "a") is None

    async def test_a_later_row_of_a_key_replaces_the_earlier_one_wholly(self, store: Store) -> None:
        await write(store, row("a", 1))
        changed = row("a", 9, session="s2", scope="tenant/other")
        await write(store, changed, at=1)
        assert await store.index.get("run", "a") == changed
        assert await store.index.find("run", "tenant/user") == []
        assert await store.index.find("run") == [changed]
        assert await store.index.next_due("run", 0) == 9

    async def test_rows_of_no_session_stay_when_sessions_go(self, store: Store) -> None:
        await store.index.put([row("a", session=""), row("b", session="")])
        await write(store, row("c"), row("d", session=""))
        await store.index.replace(SESSION, [])
        await store.journal.delete(SESSION)
        assert keys(await store.index.find("run")) == ["d", "b", "a"]
        await store.index.put([Drop("run", "a"), row("b", 9, session="")])
        assert keys(await store.index.find("run")) == ["b", "d"]

    async def test_rows_are_listed_newest_first_and_ties_by_key_descending(self, store: Store) -> None:
        await write(store, row("b", 5), row("a", 5), row("c", 5), row("z", 1), row("y", 9), row("x", 7, kind="open"))
        assert keys(await store.index.find("run")) == ["y", "c", "b", "a", "z"]
        assert keys(await store.index.find("run", limit=2)) == ["y", "c"]
        assert await store.index.find("none") == []

    async def test_a_cursor_goes_through_a_listing_without_gap_or_repeat(self, store: Store) -> None:
        await write(store, *(row(f"k{n:02}", n // 4) for n in range(30)))
        seen: list[str] = []
        before: tuple[int, str] | None = None
        while page := await store.index.find("run", before=before, limit=7):
            seen += keys(page)
            before = (page[-1].at, page[-1].key)
        assert seen == [f"k{n:02}" for n in sorted(range(30), key=lambda n: (n // 4, n), reverse=True)]

    async def test_a_cursor_holds_while_newer_rows_come_and_its_own_row_goes(self, store: Store) -> None:
        await write(store, *(row(f"k{n}", n) for n in range(6)))
        assert keys(await store.index.find("run", limit=2)) == ["k5", "k4"]
        await write(store, row("k9", 9), row("k4", 10), at=1)
        assert keys(await store.index.find("run", before=(4, "k4"), limit=2)) == ["k3", "k2"]

    async def test_a_scope_limits_a_listing_exactly_or_as_a_folder(self, store: Store) -> None:
        scopes = ("t/u", "t/u2", "t/v", "t2/u", "t", "")
        await write(store, *(row(f"in {scope}", n, scope=scope) for n, scope in enumerate(scopes)))
        assert keys(await store.index.find("run", "t/u")) == ["in t/u"]
        assert keys(await store.index.find("run", "t/")) == ["in t/v", "in t/u2", "in t/u"]
        assert keys(await store.index.find("run", "t/", before=(2, "in t/v"), limit=1)) == ["in t/u2"]
        assert keys(await store.index.find("run", "")) == ["in "]
        assert len(await store.index.find("run")) == 6

    async def test_due_rows_come_oldest_first_the_moment_included(self, store: Store) -> None:
        await write(store, row("late", 30), row("b", 10), row("a", 10), row("first", 5), row("x", 1, kind="other"))
        assert keys(await store.index.due("run", 10)) == ["first", "a", "b"]
        assert keys(await store.index.due("run", 100, limit=2)) == ["first", "a"]
        assert await store.index.due("run", 4) == []

    async def test_the_next_deadline_is_the_smallest_one_after(self, store: Store) -> None:
        await write(store, row("a", 10), row("b", 20), row("x", 15, kind="other"))
        assert await store.index.next_due("run", 9) == 10
        assert await store.index.next_due("run", 10) == 20
        assert await store.index.next_due("run", 20) is None
        assert await store.index.next_due("none", 0) is None

    async def test_replacing_drops_all_rows_of_the_session_and_only_its(self, store: Store) -> None:
        await write(store, row("a", 1), row("b", 2, kind="open"), row("c", 3, session=f"{SESSION}/child"))
        await store.index.replace(SESSION, [row("d", 4), row("a", 5)])
        assert await store.index.find("run") == [row("a", 5), row("d", 4), row("c", 3, session=f"{SESSION}/child")]
        assert await store.index.find("open") == []
        await store.index.replace(SESSION, [])
        assert keys(await store.index.find("run")) == ["c"]
