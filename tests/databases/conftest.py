"""The servers, one of each kind for all tests of a process, and a shop in each database for every test."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from tests.databases.servers import Server, mariadb, postgres
from tests.databases.shop import Asked, Shop, mysql_shop, postgres_shop, sqlite_shop


@pytest.fixture(scope="session")
def postgres_server() -> Generator[Server]:
    with postgres() as server:
        yield server


@pytest.fixture(scope="session")
def mariadb_server() -> Generator[Server]:
    with mariadb() as server:
        yield server


def make_shop(kind: str, request: pytest.FixtureRequest) -> Shop:
    if kind == "sqlite":
        folder: Path = request.getfixturevalue("tmp_path")
        return sqlite_shop(folder)
    if kind == "postgres":
        return postgres_shop(request.getfixturevalue("postgres_server"))
    return mysql_shop(request.getfixturevalue("mariadb_server"))


@pytest.fixture(params=["sqlite", "postgres", "mysql"])
def shop(request: pytest.FixtureRequest) -> Shop:
    return make_shop(str(request.param), request)


@pytest.fixture
async def asked(shop: Shop) -> AsyncGenerator[Asked]:
    tools = Asked(shop)
    yield tools
    await tools.close()
