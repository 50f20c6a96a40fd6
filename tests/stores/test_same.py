"""Whatever is done to them, the memory store and the SQLite store say the same."""

from collections.abc import Awaitable
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from talaria.core.errors import TalariaError
from talaria.ports.inbox import Letter
from talaria.ports.journal import Batch, Drop, Put
from talaria.ports.store import Store
from talaria.runtime.stores import open_store

sessions = st.sampled_from(["t/u/-/a", "t/u/-/a/run", "t/u/-/a.b", "t/v/-/ü"])
kinds = st.sampled_from(["run", "open"])
names = st.sampled_from(["a", "b", "ü", "\U0001f41e", "\uffff"])
times = st.integers(-3, 3)
puts = st.builds(Put, kinds, names, sessions, st.sampled_from(["t/u", "t/v", "t"]), times, st.binary(max_size=3))
drops = st.builds(Drop, kinds, names)


def a_letter(session: str, key: str, kind: str, at: int) -> Letter:
    return Letter(session, key, kind, f"run-{key}", at, b"{}")


class Append(msgspec.Struct, frozen=True):
    """An append whose expected seq is off by so much."""

    batch: Batch
    off: int


class Post(msgspec.Struct, frozen=True):
    letter: Letter
    replace_before: int


class Replace(msgspec.Struct, frozen=True):
    session: str
    rows: list[Put]


class Delete(msgspec.Struct, frozen=True):
    session: str


batches = st.builds(
    Batch,
    session=sessions,
    epoch=st.integers(1, 3),
    expected_seq=st.just(0),
    entries=st.lists(st.binary(max_size=5), max_size=3).map(tuple),
    index=st.lists(puts | drops, max_size=4).map(tuple),
    consumed=st.lists(names, max_size=2).map(tuple),
    blobs=st.lists(st.tuples(names, st.binary(max_size=3)), max_size=2).map(tuple),
)
letters = st.builds(a_letter, sessions, names, st.sampled_from(["turn", "cancel"]), times)
operations = st.one_of(
    st.builds(Append, batches, st.sampled_from([0, 0, 0, 0, 1, -1])),
    st.builds(Post, letters, times),
    st.builds(Replace, sessions, st.lists(puts, max_size=3)),
    st.builds(Delete, sessions),
)
Operation = Append | Post | Replace | Delete


async def outcome(call: Awaitable[Any]) -> Any:
    try:
        return await call
    except TalariaError as error:
        return type(error)


async def do(store: Store, operation: Operation) -> Any:
    match operation:
        case Append(batch, off):
            last = len(await store.journal.read(batch.session))
            return await outcome(store.journal.append(msgspec.structs.replace(batch, expected_seq=last + off)))
        case Post(letter, replace_before):
            return await outcome(store.inbox.put(letter, replace_before=replace_before))
        case Replace(session, rows):
            return await outcome(store.index.replace(session, rows))
        case Delete(session):
            return await outcome(store.journal.delete(session))


async def everything(store: Store) -> list[Any]:
    found: list[Any] = [await store.journal.sessions(), await store.inbox.waiting()]
    for kind in ("run", "open"):
        found += [await store.index.find(kind, scope) for scope in (None, "t/u", "t/", "t")]
        found += [await store.index.find(kind, before=(0, "b"), limit=2), await store.index.due(kind, 1, 3)]
        found += [await store.index.next_due(kind, at) for at in range(-3, 4)]
        found += [await store.index.get(kind, key) for key in ("a", "ü")]
    for session in ("t/u/-/a", "t/u/-/a/run", "t/u/-/a.b", "t/v/-/ü"):
        found += [await store.journal.read(session), await store.journal.read(session, 1, 1)]
        found += [await store.inbox.pending(session), await outcome(store.blobs.get(session, "a"))]
    for key in ("a", "b", "ü"):
        found += [await store.inbox.get(key), await store.inbox.turn(f"run-{key}")]
    return found


@given(st.lists(operations, min_size=1, max_size=25))
async def test_both_stores_say_the_same(steps: list[Operation]) -> None:
    with TemporaryDirectory() as folder:
        stores = (await open_store("memory://"), await open_store(f"sqlite:///{folder}/x.db"))
        try:
            for step in steps:
                one, other = [await do(store, step) for store in stores]
                assert one == other
            assert await everything(stores[0]) == await everything(stores[1])
        finally:
            for store in stores:
                await store.close()
