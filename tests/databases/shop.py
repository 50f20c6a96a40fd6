"""A shop's data in each of the three databases, and the tools over them."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from talaria.runtime.database_settings import DatabaseSettings
from talaria.runtime.databases import make_sources
from talaria.tools.builtin.databases import data_tools
from talaria.types.sql import Dialect
from tests.databases.servers import Server

LISTED = ("orders", "t", "customers", "客户", "big")
"""The tables that may be read; `secret` and the view `leak` are there too."""

_DATA = """
CREATE TABLE customers (id integer PRIMARY KEY, name varchar(40) NOT NULL);
CREATE TABLE orders (id integer PRIMARY KEY, customer_id integer NOT NULL, amount decimal(10,2), day date,
  FOREIGN KEY (customer_id) REFERENCES customers (id));
CREATE TABLE t ({quote}update{quote} integer);
CREATE TABLE 客户 (编号 integer PRIMARY KEY, 名称 varchar(40), 城市 varchar(40));
CREATE TABLE secret (x integer);
CREATE VIEW big AS SELECT id, amount FROM orders WHERE amount > 100;
CREATE VIEW leak AS SELECT x FROM secret;
INSERT INTO customers VALUES (1, 'Ada'), (2, 'Grace');
INSERT INTO orders VALUES (1, 1, 12.50, '2026-01-31'), (2, 1, 700.00, '2026-02-01'), (3, 2, NULL, NULL);
INSERT INTO t VALUES (7);
INSERT INTO 客户 VALUES (1, '王芳', '上海'), (2, '李雷', '北京');
INSERT INTO secret VALUES (42);
"""


@dataclass
class Shop:
    """A database, how to look at it behind talaria's back, and its URL."""

    dialect: Dialect
    url: str
    dump: Callable[[], str]
    script: Callable[[str], object]

    def settings(self, **fields: Any) -> dict[str, Any]:
        return {"url": self.url, "tables": list(LISTED)} | fields


class Asked:
    """The two tools over one shop."""

    def __init__(self, shop: Shop, characters: int = 20_000, **fields: Any) -> None:
        self.shop = shop
        self.sources = make_sources({"shop": DatabaseSettings.model_validate(shop.settings(**fields))})
        self.tools = data_tools(self.sources, characters)

    async def query(self, sql: str) -> dict[str, Any]:
        return await self.tools[0].fn(database="shop", sql=sql)

    async def rows(self, sql: str) -> list[list[Any]]:
        return [list(each) for each in (await self.query(sql))["rows"]]

    async def schema(self, table: str | None = None) -> dict[str, Any]:
        return await self.tools[1].fn(database="shop", table=table)

    async def close(self) -> None:
        for source in self.sources.values():
            await source.database.close()


def sqlite_shop(folder: Path) -> Shop:
    path = folder / "商店.db"

    def script(text: str) -> None:
        connection = sqlite3.connect(path)
        connection.executescript(text)
        connection.close()

    def dump() -> str:
        connection = sqlite3.connect(path)
        text = "\n".join(connection.iterdump())
        connection.close()
        return text

    script(_DATA.format(quote='"'))
    return Shop("sqlite", f"sqlite:///{path}", dump, script)


def postgres_shop(server: Server) -> Shop:
    fresh = "DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public;"
    grants = "GRANT USAGE ON SCHEMA public TO reader; GRANT ALL ON ALL TABLES IN SCHEMA public TO reader;"
    extra = "CREATE SEQUENCE s; GRANT ALL ON SEQUENCE s TO reader;"
    extra += "CREATE FUNCTION spy() RETURNS integer LANGUAGE sql SECURITY DEFINER AS 'SELECT x FROM secret';"
    extra += "CREATE FUNCTION wipe() RETURNS integer LANGUAGE sql VOLATILE AS 'DELETE FROM t; SELECT 1';"
    server.script(fresh + _DATA.format(quote='"') + grants + extra)
    every = "".join(f"SELECT '{each}', * FROM {each};" for each in ("customers", "orders", "t", "客户", "secret"))
    every += "SELECT relname, relkind FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1; "
    every += "SELECT last_value, is_called FROM s; SELECT count(*) FROM pg_largeobject_metadata;"
    every += "SELECT * FROM pg_db_role_setting;"
    return Shop("postgres", server.url, lambda: server.script(every), server.script)


def mysql_shop(server: Server) -> Shop:
    fresh = "DROP DATABASE shop; CREATE DATABASE shop CHARACTER SET utf8mb4; USE shop; "
    fresh += "CREATE TABLE IF NOT EXISTS other.o (x integer); GRANT ALL ON shop.* TO reader@'%';"
    fresh += "GRANT SELECT ON other.* TO reader@'%';"
    server.script(fresh + _DATA.format(quote="`"))
    every = "".join(
        f"SELECT '{each}', {each}.* FROM {each};" for each in ("customers", "orders", "t", "客户", "secret")
    )
    every += "SHOW FULL TABLES; SELECT @@global.general_log, @@global.sql_mode;"
    return Shop("mysql", server.url, lambda: server.script(every), server.script)
