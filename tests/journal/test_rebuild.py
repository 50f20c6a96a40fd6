"""The index is made of the entries: made again, it is the same."""

from hypothesis import given
from hypothesis import strategies as st

from talaria.core.ids import SessionKey
from talaria.journal.entries import AnyEntry
from talaria.journal.fold import apply
from talaria.journal.index import APPROVAL, AUDIT, RUN, SESSION, WAKE, index
from talaria.journal.rebuild import rebuild_index, session_rows
from talaria.journal.session import SessionWriter
from talaria.journal.state import SessionState
from talaria.ports.journal import Put
from talaria.ports.store import Store
from talaria.stores.memory.store import MemoryStore
from tests.journal.entries import FULL, KEY, any_entry

KINDS = (SESSION, RUN, APPROVAL, WAKE, AUDIT, "turn")


async def all_rows(store: Store) -> list[Put]:
    return [row for kind in KINDS for row in await store.index.find(kind, limit=10_000)]


async def record(store: Store, key: SessionKey, entries: list[AnyEntry]) -> None:
    writer = SessionWriter(store.journal, SessionState(key), 1, lambda _: None)
    for entry in entries:
        writer.record(entry)
        await writer.flush()


async def test_a_rebuilt_index_has_the_same_rows(store: Store) -> None:
    keys = [KEY, SessionKey("acme", "ann", "-", "s-1", "run_9"), SessionKey("acme", "bob", "x", "s-2")]
    for at, key in enumerate(keys):
        await record(store, key, FULL[: 8 + at])
    before = await all_rows(store)
    assert {row.kind for row in before} == {"session", "turn", "run", "wake", "audit"}
    for key in keys:
        await store.index.replace(key.path, [Put("run", f"wrong {key.path}", key.path, key.scope, 1)])
    assert await all_rows(store) != before
    assert await rebuild_index(store.journal, store.index, store.blobs) == 3
    assert await all_rows(store) == before


@given(st.lists(any_entry, max_size=30))
async def test_rows_made_at_once_are_those_that_were_made_one_by_one(entries: list[AnyEntry]) -> None:
    store = MemoryStore()
    await record(store, KEY, [FULL[0], *entries])
    made = await session_rows(store.journal, store.blobs, KEY)
    assert sorted(made, key=_key) == sorted(await all_rows(store), key=_key)


def _key(row: Put) -> tuple[str, str]:
    return row.kind, row.key


def test_rows_say_nothing_about_a_run_that_is_not_the_sessions_last() -> None:
    state = SessionState(KEY)
    apply(state, FULL[0])
    other = FULL[-1]
    stray = type(other)(run="stray", at=1, reason="stop")  # pyright: ignore[reportCallIssue]
    apply(state, stray)
    assert index(state, stray) == []
