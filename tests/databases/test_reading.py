"""What the tools say of real databases: rows, counts, types, schemas, errors."""

import asyncio
import re
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from talaria.core.errors import ConfigurationError
from talaria.ports.database import DatabaseUnavailable, QueryRefused
from talaria.tools.result import result_text
from tests.databases.conftest import make_shop
from tests.databases.servers import PASSWORD
from tests.databases.shop import Asked, Shop
from tests.polling import eventually


async def test_rows_come_with_their_columns_and_count(asked: Asked) -> None:
    answer = await asked.query("SELECT id, day FROM orders ORDER BY id DESC;")
    assert result_text(answer) == (
        '{"columns":["id","day"],"rows":[[3,null],[2,"2026-02-01"],[1,"2026-01-31"]],"rowCount":3}'
    )


async def test_an_answer_without_rows_has_its_columns(asked: Asked) -> None:
    assert await asked.query("SELECT id FROM orders WHERE id > 10") == {"columns": ("id",), "rows": [], "rowCount": 0}


async def test_chinese_names_and_values(asked: Asked) -> None:
    assert await asked.rows("SELECT 名称 AS 客户名 FROM 客户 WHERE 城市 = '上海'") == [["王芳"]]
    assert {"name": "客户", "kind": "table"} in (await asked.schema())["tables"]


async def test_columns_of_the_same_name_are_all_there(asked: Asked) -> None:
    assert await asked.query("SELECT id, id, amount AS id FROM orders WHERE id = 2 -- the second") == {
        "columns": ("id", "id", "id"),
        "rows": [(2, 2, 700 if asked.shop.dialect == "sqlite" else "700.00")],
        "rowCount": 1,
    }


async def test_the_first_fifty_rows_are_shown_and_all_are_counted(asked: Asked) -> None:
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i FROM n ORDER BY i"
    answer = await asked.query(numbers)
    assert [row[0] for row in answer["rows"]] == list(range(1, 51))
    assert (answer["rowCount"], answer["note"]) == (900, "only the first 50 rows are shown")


async def test_counting_ends_at_its_limit(shop: Shop) -> None:
    asked = Asked(shop, counted=120)
    try:
        for rows, count, more in ((119, 119, ""), (120, 120, ""), (121, 120, "; there are more than 120 rows")):
            numbers = (
                f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) SELECT i FROM n"
            )
            answer = await asked.query(numbers)
            assert (answer["rowCount"], answer["note"]) == (count, f"only the first 50 rows are shown{more}")
    finally:
        await asked.close()


async def test_an_answer_fits_what_a_result_may_have(shop: Shop) -> None:
    asked = Asked(shop, characters=1000)
    try:
        wide = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) SELECT i, {} FROM n"
        text = {"sqlite": "printf('%060d', i)"}.get(shop.dialect, "lpad('x', 60, 'y')")
        answer = await asked.query(wide.format(text))
        assert len(result_text(answer)) <= 1000
        assert 5 <= len(answer["rows"]) < 40
        assert answer["note"] == f"only the first {len(answer['rows'])} rows are shown"
    finally:
        await asked.close()


async def test_reading_ends_at_a_number_of_bytes(shop: Shop) -> None:
    asked = Asked(shop, maxBytes=50_000)
    try:
        one = {"sqlite": "printf('%.20000c', 'x')"}.get(shop.dialect, "repeat('x', 20000)")
        three = f"SELECT id, {one} AS v FROM orders ORDER BY id"
        answer = await asked.query(three)
        assert len(answer["rows"]) == 2
        assert "50000 bytes: select fewer or shorter columns" in answer["note"]
        assert answer["rows"][0][1].endswith("x… (20000 characters)")
    finally:
        await asked.close()


async def test_a_query_that_takes_too_long_is_ended(shop: Shop) -> None:
    asked = Asked(shop, timeout=0.5)
    try:
        with pytest.raises(QueryRefused, match=r"longer than 0\.5 s; make it simpler"):
            await asked.query(ENDLESS)
        assert await asked.rows("SELECT 1 AS one") == [[1]]
    finally:
        await asked.close()


ENDLESS = (
    "SELECT count(*) AS n FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
    "SELECT a.i FROM n AS a, n AS b, n AS c, n AS d) AS many"
)
RUNNING = {
    "postgres": "SELECT count(*) FROM pg_stat_activity WHERE usename = 'reader' AND state = 'active';",
    "mysql": "SELECT count(*) FROM information_schema.processlist WHERE user = 'reader' AND info LIKE '%many%';",
}


async def test_a_query_that_is_given_up_ends_in_the_database(shop: Shop) -> None:
    async def runs() -> bool:
        if shop.dialect == "sqlite":  # it has no other process to ask; its one thread shows whether it is free
            return True
        return int(str(await asyncio.to_thread(shop.script, RUNNING[shop.dialect])).strip()) > 0

    async def is_over() -> bool:
        return shop.dialect == "sqlite" or not await runs()

    asked = Asked(shop, connections=1)
    try:
        task = asyncio.create_task(asked.query(ENDLESS))
        await asyncio.sleep(0.3 if shop.dialect == "sqlite" else 0)
        await eventually(runs, "the query being at work", 20)
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(10):
            assert await asked.rows("SELECT 1 AS one") == [[1]]  # the one place is free again
        await eventually(is_over, "the query being over", 10)
    finally:
        await asked.close()


async def test_many_at_once_share_few_connections(asked: Asked) -> None:
    answers = await asyncio.gather(*(asked.rows(f"SELECT {n} AS n FROM t") for n in range(30)))
    assert [each[0][0] for each in answers] == list(range(30))


async def test_the_schema_of_a_table(asked: Asked) -> None:
    columns = (await asked.schema("orders"))["columns"]
    assert [each["name"] for each in columns] == ["id", "customer_id", "amount", "day"]
    assert columns[0]["key"] is True
    assert columns[1]["references"] == "customers.id"
    assert (columns[1]["nullable"], columns[2]["nullable"]) == (False, True)
    assert re.match(r"(?i)(decimal|numeric)\(10,2\)", columns[2]["type"])


async def test_the_schema_shows_what_may_be_read(asked: Asked) -> None:
    names = {each["name"]: each["kind"] for each in (await asked.schema())["tables"]}
    assert names == {"orders": "table", "t": "table", "customers": "table", "客户": "table", "big": "view"}
    for hidden in ("secret", "leak", "sqlite_master", "pg_class", "pg_catalog.pg_class", "mysql.user", "nothing'--"):
        with pytest.raises(QueryRefused, match="no table named"):
            await asked.schema(hidden)


async def test_without_a_list_all_but_the_system_is_there(shop: Shop) -> None:
    asked = Asked(shop, tables=[])
    try:
        names = {each["name"] for each in (await asked.schema())["tables"]}
        assert {"orders", "secret", "leak", "客户"} <= names
        assert not any(re.match("sqlite_|pg_|information_schema|mysql", each) for each in names)
        assert await asked.rows("SELECT x FROM leak") == [[42]]
        for system in ("sqlite_master", "pg_class", "pg_catalog.pg_class", "information_schema.tables", "mysql.user"):
            with pytest.raises(
                QueryRefused, match=r"may not be read|does not exist|doesn't exist|no such table|denied"
            ):
                await asked.query(f"SELECT * FROM {system}")
    finally:
        await asked.close()


async def test_an_error_says_what_may_have_been_meant(asked: Asked) -> None:
    with pytest.raises(QueryRefused, match=r"amonut.*; did you mean 'amount'\?"):
        await asked.query("SELECT amonut FROM orders")
    with pytest.raises(QueryRefused, match=r"table order may not be read; there are .*did you mean 'orders'\?"):
        await asked.query('SELECT * FROM "order"' if asked.shop.dialect != "mysql" else "SELECT * FROM `order`")
    with pytest.raises(QueryRefused, match=r"cannot be read as SQL|the database says"):
        await asked.query("SELECT FROM WHERE")


async def test_views_read_what_their_owner_let_them(asked: Asked) -> None:
    assert await asked.rows("SELECT id FROM big") == [[2]]
    assert await asked.rows("SELECT count(*) AS n FROM big") == [[1]]


async def test_types_of_postgres(postgres_server: Any, request: pytest.FixtureRequest) -> None:
    asked = Asked(make_shop("postgres", request))
    try:
        said = result_text(
            (
                await asked.query(
                    "SELECT 0.10 AS a, 'NaN'::float8 AS b, 'Infinity'::numeric AS c, 1e300::float8 AS d, "
                    "'infinity'::date AS e, ARRAY[1, 2] AS f, '{\"x\": 0.10}'::jsonb AS g, '\\x00ff'::bytea AS h, "
                    "true AS i, 9007199254740993 AS j, '10:00'::time AS k, interval '1 day' AS l, NULL AS m, "
                    "'2026-01-01 10:00+02'::timestamptz AT TIME ZONE 'UTC' AS n, 0.5::float8 AS o, 12::numeric AS p"
                )
            )["rows"]
        )
        assert said == (
            '[["0.10","NaN","Infinity",1e+300,"infinity",[1,2],{"x":"0.10"},"\\\\x00ff",true,9007199254740993,'
            '"10:00:00","1 day",null,"2026-01-01T08:00:00",0.5,"12"]]'
        )
    finally:
        await asked.close()


async def test_types_of_mariadb(mariadb_server: Any, request: pytest.FixtureRequest) -> None:
    asked = Asked(make_shop("mysql", request))
    try:
        said = result_text(
            (
                await asked.query(
                    "SELECT 0.10 AS a, 1e300 AS b, CAST('2026-01-31' AS date) AS c, unhex('00ff') AS d, NULL AS e, "
                    "CAST('26:00:01' AS time) AS f, 9007199254740993 AS g, TRUE AS h, json_object('x', 1) AS i, "
                    "CAST('2026-01-31 10:00:00' AS datetime) AS j"
                )
            )["rows"]
        )
        assert said == (
            '[["0.10",1e+300,"2026-01-31","0x00ff",null,"26:00:01",9007199254740993,1,"{\\"x\\": 1}",'
            '"2026-01-31 10:00:00"]]'
        )
    finally:
        await asked.close()


async def test_types_of_sqlite(request: pytest.FixtureRequest) -> None:
    asked = Asked(make_shop("sqlite", request))
    said = result_text(
        (await asked.query("SELECT 0.5 AS a, 9e999 AS b, x'00ff' AS c, NULL AS d, '文' AS e, -1 AS f"))["rows"]
    )
    assert said == '[[0.5,"inf","0x00ff",null,"文",-1]]'
    await asked.close()


async def test_a_database_that_is_not_there_says_nothing_of_its_address(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = {"sqlite": "sqlite:////nowhere/at/all.db", "postgres": "postgresql://u:hunter22@127.0.0.1:1/x"}
    gone["mysql"] = "mysql://u:hunter22@127.0.0.1:1/x"
    asked = Asked(shop, url=gone[shop.dialect])
    for call in (asked.query("SELECT 1 AS one FROM t"), asked.schema(), asked.schema("t")):
        with pytest.raises(DatabaseUnavailable, match="go on without it, or try later") as error:
            await call
        assert not re.search(r"127\.0\.0\.1|hunter22|nowhere", str(error.value))
    assert "hunter22" not in capsys.readouterr().out
    await asked.close()


async def test_a_wrong_password_is_told_to_the_log_only(
    mariadb_server: Any, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = make_shop("mysql", request)
    asked = Asked(shop, url=shop.url.replace("p%40ss", "wrong-p%40ss"))
    with pytest.raises(DatabaseUnavailable) as error:
        await asked.query("SELECT 1 AS one")
    assert "reader" not in str(error.value)
    said = capsys.readouterr().out
    assert "Access denied" in said
    assert PASSWORD not in said


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"url": "oracle://x"}, r"databases\.shop\.url: it must begin with"),
        ({"url": "mysql://h"}, r"databases\.shop\.url: it must name a database"),
        ({"url": "sqlite:///x", "tables": ["a.b.c"]}, r"databases\.shop\.tables: 'a\.b\.c' is no table's name"),
    ],
)
def test_a_wrong_configuration_is_told_at_the_start(settings: dict[str, Any], message: str) -> None:
    from talaria import Runtime  # noqa: PLC0415

    with pytest.raises(ConfigurationError, match=message):
        Runtime({"store": {"url": "memory://"}, "databases": {"shop": settings}})


async def test_a_file_that_somebody_writes_meanwhile_can_be_read(request: pytest.FixtureRequest) -> None:
    shop = make_shop("sqlite", request)
    asked = Asked(shop)
    with closing(sqlite3.connect(shop.url.removeprefix("sqlite:///"))) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("INSERT INTO t VALUES (8)")  # not committed
        assert await asked.rows("SELECT count(*) AS n FROM t") == [[1]]
        writer.commit()
        assert await asked.rows("SELECT count(*) AS n FROM t") == [[2]]
    await asked.close()
