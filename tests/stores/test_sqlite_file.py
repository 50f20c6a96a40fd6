"""Opening SQLite files: who may, what is refused, and what the refusal says."""

import asyncio
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from talaria.core.errors import ConfigurationError
from talaria.ports.journal import Batch
from talaria.runtime.stores import open_store
from talaria.stores.sqlite.store import SqliteStore
from tests.stores.processes import SECONDS, child


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "talaria.db"


async def refusal(database: Path, *, owner: bool = True) -> str:
    with pytest.raises(ConfigurationError) as caught:
        await SqliteStore.open(str(database), owner=owner)
    return caught.value.message


async def open_and_close(database: Path) -> None:
    await (await SqliteStore.open(str(database))).close()


def execute(database: Path, *statements: str) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


async def test_a_second_process_is_refused_until_the_first_is_killed(database: Path) -> None:
    async with child("hold", database) as owner:
        assert await owner.line() == "open"
        message = await refusal(database)
        assert str(database) in message
        assert "another process, or another runtime of this one, runs on" in message
        await owner.kill()
        await open_and_close(database)


async def test_the_same_process_cannot_open_a_file_twice_not_even_by_another_name(database: Path) -> None:
    store = await SqliteStore.open(str(database))
    link = database.with_name("link.db")
    link.symlink_to(database)
    await refusal(link)
    await store.close()
    await open_and_close(link)


async def test_a_file_of_a_later_version_is_refused_and_left_as_it_is(database: Path) -> None:
    await open_and_close(database)
    execute(database, "UPDATE meta SET value = 99 WHERE key = 'schema'")
    for owner in (True, False):
        message = await refusal(database, owner=owner)
        assert "schema 99" in message
        assert "upgrade talaria" in message
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT value FROM meta ORDER BY key").fetchall() == [(0,), (1,), (99,)]


async def test_the_database_of_another_program_is_refused(database: Path) -> None:
    execute(database, "CREATE TABLE accounts(id)")
    assert "another program" in await refusal(database)


@pytest.fixture
def text(database: Path) -> Iterator[Path]:
    database.write_bytes(b"a letter to my mother" * 100)
    yield database
    assert database.read_bytes() == b"a letter to my mother" * 100


async def test_what_is_no_database_is_refused_and_left_as_it_is(text: Path) -> None:
    assert "not a database" in await refusal(text)


async def test_a_visitor_needs_a_file_that_is_there(database: Path) -> None:
    assert "there is no" in await refusal(database, owner=False)
    execute(database, "CREATE TABLE meta(key, value)", "CREATE TABLE entry(x)", "CREATE TABLE letter(x)")
    execute(database, "INSERT INTO meta VALUES ('schema', 0)")
    assert "start its server once" in await refusal(database, owner=False)


async def test_a_file_that_cannot_be_made_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert str(tmp_path / "file" / "x.db") in await refusal(tmp_path / "file" / "x.db")


async def test_folders_are_made_and_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    database = tmp_path / "a" / "b" / "talaria.db"
    await open_and_close(database)
    assert stat.S_IMODE(database.stat().st_mode) == 0o600


async def test_an_opening_that_is_cancelled_leaves_nothing_open(database: Path) -> None:
    opening = asyncio.create_task(SqliteStore.open(str(database)))
    await asyncio.wait([opening], timeout=0.001)
    opening.cancel()
    await asyncio.gather(opening, return_exceptions=True)
    if not opening.cancelled():
        await opening.result().close()
    async with asyncio.timeout(SECONDS):
        while True:
            try:
                await open_and_close(database)
            except ConfigurationError:
                await asyncio.to_thread(lambda: None)
            else:
                return


async def test_urls_name_relative_and_absolute_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for url in ("sqlite:///data/one.db", f"sqlite:///{tmp_path}/two.db"):
        store = await open_store(url)
        assert await store.journal.append(Batch("s", 1, 0, (b"x",))) == 1
        await store.close()
    assert (tmp_path / "data" / "one.db").is_file()
    assert (tmp_path / "two.db").is_file()


@pytest.mark.parametrize(
    "url", ["", "x.db", "mongo://host", "memory://x", "sqlite://", "sqlite://x.db", "sqlite:///", "sqlite:///:memory:"]
)
async def test_other_urls_are_refused_with_what_there_is(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"memory://, sqlite:///relative\.db, sqlite:////absolute\.db"):
        await open_store(url)
