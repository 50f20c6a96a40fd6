"""What no model can do, whatever SQL it writes: by the statement that is read, and by the database alone."""

from contextlib import suppress
from pathlib import Path

import pytest

from talaria.core.errors import TalariaError
from talaria.ports.database import DatabaseUnavailable, Query, QueryRefused
from talaria.types.sql import Dialect
from tests.databases.conftest import make_shop
from tests.databases.shop import Asked

RUN: dict[Dialect, tuple[str, ...]] = {
    "postgres": (
        "(SELECT 1) UNION (SELECT 2)",
        'select "update" from t',
        "SELECT $$a;b$$ -- postgres",
        "VALUES (1)",
        "TABLE t",
        "SELECT t.* FROM public.t, LATERAL (SELECT 1 AS n) AS x",
        "SELECT sum(amount) FILTER (WHERE id > 1), percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) FROM orders",
        "SELECT date_trunc('month', day), row_number() OVER (PARTITION BY day ORDER BY id) FROM orders",
        "SELECT EXTRACT(year FROM day), CAST(amount AS numeric(8,1)), amount::varchar(10) FROM orders",
        "SELECT n FROM generate_series(1, 3) AS g(n)",
        "SELECT DISTINCT ON (customer_id) id FROM orders ORDER BY customer_id, day DESC NULLS LAST",
        "SELECT customer_id, sum(amount) FROM orders GROUP BY ROLLUP (customer_id)",
    ),
    "sqlite": (
        'select "update" from t',
        "VALUES (1)",
        "SELECT * FROM main.t",
        "SELECT [update], `update` FROM [t]",
        "SELECT strftime('%Y-%m', day), iif(id > 1, 'a', 'b') FROM ORDERS",
        "SELECT value FROM json_each('[1, 2]')",
        "SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM t)",
    ),
    "mysql": (
        "select `update` from t",
        "SELECT t.* FROM shop.t",
        "SELECT date_format(day, '%Y-%m'), if(id > 1, 'a', 'b') FROM orders",
        "SELECT group_concat(id ORDER BY id SEPARATOR '/') FROM orders",
        "SELECT date_add(day, INTERVAL 1 MONTH), year(day), left('abc', 2) FROM orders",
        "SELECT 1 FROM DUAL",
        "SELECT 'it''s; # no' -- really",
    ),
}
EVERYWHERE = (
    "SELECT 1",
    "  -- c\n SELECT 'DELETE; DROP' AS x",
    "WITH a AS (SELECT 1) SELECT * FROM a",
    "WITH a(n) AS (SELECT 1), b AS (SELECT n FROM a) SELECT count(*) FROM a, b",
    "SELECT 1;",
    "SELECT count(*) FROM orders",
    "SELECT coalesce(sum(amount), 0), round(avg(amount), 1) FROM orders WHERE id IN (SELECT id FROM big)",
    "SELECT c.name FROM customers c JOIN orders o ON (o.customer_id = c.id) GROUP BY c.name HAVING count(*) > (1)",
)
NOWHERE = (
    "WITH x AS (SELECT 1) DELETE FROM t",
    "WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d",
    "/* SELECT */ DELETE FROM t",
    "-- SELECT\nDELETE FROM t",
    "SELECT 1; DELETE FROM t",
    "SELECT * INTO n FROM t",
    "EXPLAIN ANALYZE DELETE FROM t",
    "EXPLAIN SELECT * FROM secret",
    "CREATE TEMP TABLE x AS SELECT 1",
    "CREATE TEMPORARY TABLE x (a integer)",
    "SELECT * FROM t FOR UPDATE",
    "DO $$ BEGIN DELETE FROM t; END $$",
    "CALL p()",
    "SET ROLE admin",
    "\ufeffDELETE FROM t",
    "DELETE/**/FROM/**/t",
    "INSERT INTO t VALUES (8)",
    "DROP TABLE t",
    "COMMIT",
)
DENIED: dict[Dialect, tuple[str, ...]] = {
    "postgres": (
        *NOWHERE,
        "SELECT nextval('s')",
        "SELECT setval('s', 9)",
        "SELECT set_config('transaction_read_only', 'off', false)",
        "SELECT set_config('statement_timeout', '0', false)",
        "SELECT pg_sleep(0.1)",
        "SELECT pg_advisory_lock(1)",
        "SELECT lo_create(0)",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT pg_notify('a', 'b')",
        "COPY t TO '/tmp/x'",
        "COPY (SELECT 1) TO PROGRAM 'id'",
        "PREPARE p AS DELETE FROM t",
        "LOCK TABLE t IN ACCESS EXCLUSIVE MODE",
        "SHOW data_directory",
        "SELECT spy()",
        "SELECT public.wipe()",
        'SELECT "wipe"()',
        "SELECT * FROM wipe() AS w(x)",
        "WITH wipe(x) AS (SELECT 1) SELECT wipe() FROM wipe",
        "SELECT current_setting('data_directory')",
        "SELECT $1",
    ),
    "sqlite": (
        *NOWHERE,
        "ATTACH ':memory:' AS x",
        "VACUUM INTO '/tmp/x'",
        "PRAGMA user_version = 7",
        "PRAGMA table_info(secret)",
        "SELECT load_extension('x')",
        "SELECT writefile('a', 'b')",
        "SELECT * FROM pragma_database_list",
        "SELECT * FROM pragma_journal_mode('delete')",
        "SELECT randomblob(900000000)",
        "SELECT ?",
        "REPLACE INTO t VALUES (1)",
    ),
    "mysql": (
        *NOWHERE,
        "SELECT * FROM t INTO OUTFILE '/tmp/talaria-x'",
        "SELECT 'x' INTO DUMPFILE '/tmp/talaria-x'",
        "SELECT load_file('/etc/passwd')",
        "SELECT /*!50000 1 FROM secret */",
        "SELECT 1 /*M! , x FROM secret */",
        "SELECT sleep(0.1)",
        "SELECT benchmark(1000, md5('a'))",
        "SELECT get_lock('a', 1)",
        "SELECT @a := 1",
        "SELECT @@datadir",
        "SELECT @@global.secure_file_priv",
        "SHOW GRANTS",
        "SHOW CREATE TABLE secret",
        "HANDLER t OPEN",
        "DESCRIBE secret",
        "SELECT last_insert_id(7)",
        "SELECT user()",
        "PREPARE p FROM 'DELETE FROM t'",
        "EXECUTE IMMEDIATE 'DELETE FROM t'",
    ),
}
HIDDEN_EVERYWHERE = (
    "SELECT * FROM secret",
    "SELECT * FROM leak",
    "SELECT count(*) FROM secret",
    "SELECT x FROM t, secret",
    "SELECT (SELECT max(x) FROM secret)",
    "SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM secret)",
    "WITH a AS (SELECT x FROM secret) SELECT * FROM a",
    "WITH orders AS (SELECT x FROM secret) SELECT * FROM orders",
    "WITH big AS (SELECT x FROM secret) SELECT * FROM big",
    "WITH secret AS (SELECT * FROM secret) SELECT * FROM secret",
    "SELECT * FROM (WITH secret AS (SELECT 1) SELECT * FROM secret) AS a, secret",
    "WITH a AS (SELECT * FROM secret), secret AS (SELECT 1) SELECT * FROM a",
    "SELECT id FROM orders UNION ALL SELECT x FROM secret",
    "SELECT id FROM orders ORDER BY (SELECT x FROM secret)",
    "SELECT * FROM orders JOIN secret ON 1 = 1",
    "SELECT * FROM information_schema.tables",
    "SELECT orders.id FROM secret AS orders, orders AS o",
)
HIDDEN: dict[Dialect, tuple[str, ...]] = {
    "postgres": (
        *HIDDEN_EVERYWHERE,
        "TABLE secret",
        "SELECT 1 WHERE 1 IN (TABLE secret)",
        "SELECT * FROM ONLY secret",
        'SELECT * FROM public."secret"',
        "SELECT * FROM shop.public.secret",
        "SELECT * FROM SECRET",
        'SELECT * FROM U&"secre\\0074"',
        "SELECT * FROM pg_class",
        "SELECT * FROM pg_catalog.pg_roles",
        "SELECT table_to_xml('secret', true, true, '')",
        "SELECT database_to_xml(true, true, '')",
        "SELECT query_to_xml('SELECT * FROM secret', true, true, '')",
        "SELECT * FROM ts_stat('SELECT x::text::tsvector FROM secret')",
        "SELECT pg_get_viewdef('leak'::regclass)",
        "SELECT * FROM pg_stat_get_activity(NULL)",
        "SELECT ARRAY(SELECT x FROM secret)",
        "SELECT secret FROM secret",
    ),
    "sqlite": (
        *HIDDEN_EVERYWHERE,
        "SELECT 1 WHERE 42 IN secret",
        "SELECT * FROM [secret]",
        "SELECT * FROM main.SECRET",
        "SELECT * FROM sqlite_master",
        "SELECT * FROM sqlite_schema",
        "SELECT * FROM temp.sqlite_master",
        "SELECT sql FROM pragma_table_list",
        "SELECT * FROM pragma_table_info('secret')",
        "SELECT * FROM dbstat",
    ),
    "mysql": (
        *HIDDEN_EVERYWHERE,
        "TABLE secret",
        "SELECT * FROM (secret)",
        "SELECT * FROM shop.secret",
        "SELECT * FROM other.o",
        "SELECT * FROM `other`.`o`",
        "SELECT * FROM t STRAIGHT_JOIN secret",
        "SELECT * FROM mysql.user",
        "SELECT * FROM INFORMATION_SCHEMA.processlist",
        "SELECT * FROM Orders_,secret",
        "SELECT * FROM { OJ t LEFT JOIN secret ON 1 }",
    ),
}


async def test_what_only_reads_runs(asked: Asked) -> None:
    for sql in (*EVERYWHERE, *RUN[asked.shop.dialect]):
        assert (await asked.query(sql))["rowCount"] >= 0, sql


async def test_what_does_more_is_refused_and_changes_nothing(asked: Asked) -> None:
    before = asked.shop.dump()
    for sql in DENIED[asked.shop.dialect]:
        with pytest.raises(QueryRefused):
            raise AssertionError(f"{sql}: {await asked.query(sql)}")
    assert asked.shop.dump() == before


async def test_tables_that_are_not_listed_cannot_be_reached(asked: Asked) -> None:
    for sql in HIDDEN[asked.shop.dialect]:
        with pytest.raises(QueryRefused) as error:
            raise AssertionError(f"{sql}: {await asked.query(sql)}")
        assert "42" not in str(error.value), sql


WRITES: dict[Dialect, tuple[str, ...]] = {
    "postgres": (
        "DELETE FROM t",
        "WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d",
        "SELECT wipe()",
        "SELECT nextval('s')",
        "SELECT set_config('transaction_read_only', 'off', true), wipe()",
        "SELECT 1) AS answer(c0)) AS shortened; DELETE FROM t; SELECT * FROM (SELECT * FROM (SELECT 1",
        "SELECT 1; DELETE FROM t",
        "CREATE TABLE n (a integer)",
        "SELECT * FROM t FOR UPDATE",
        "COMMIT",
        "ALTER ROLE reader SET default_transaction_read_only = off",
    ),
    "sqlite": (
        "DELETE FROM t",
        "ATTACH '{folder}/new.db' AS x",
        "VACUUM INTO '{folder}/new.db'",
        "PRAGMA user_version = 7",
        "PRAGMA query_only = OFF",
        "CREATE TEMP TABLE x (a)",
        "SELECT * FROM secret",
        "SELECT count(*) FROM secret",
        "SELECT 1 WHERE 42 IN secret",
        "SELECT * FROM leak",
        "SELECT name FROM sqlite_master",
        "SELECT * FROM pragma_table_info('secret')",
        "SELECT load_extension('x')",
        "SELECT fts3_tokenizer('x')",
        "SELECT zeroblob(900000000)",
    ),
    "mysql": (
        "DELETE FROM t",
        "INSERT INTO t VALUES (8)",
        "CREATE TABLE n (a integer)",
        "DROP TABLE t",
        "SELECT 1; DELETE FROM t",
        "SELECT * FROM t INTO OUTFILE '/tmp/talaria-x'",
        "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t",
        "TRUNCATE t",
    ),
}


async def test_the_database_alone_refuses_what_the_reading_of_statements_would_miss(
    asked: Asked, tmp_path: Path
) -> None:
    database, before = asked.sources["shop"].database, asked.shop.dump()
    for template in WRITES[asked.shop.dialect]:
        sql = template.replace("{folder}", str(tmp_path))
        with pytest.raises((QueryRefused, DatabaseUnavailable)):
            raise AssertionError(f"{sql}: {await database.answer(Query(sql, frozenset(), frozenset()))}")
    assert asked.shop.dump() == before
    assert not (tmp_path / "new.db").exists()
    assert await asked.rows("SELECT 1 AS one") == [[1]]


async def test_what_postgres_lets_a_reader_make_is_undone(request: pytest.FixtureRequest) -> None:
    asked = Asked(make_shop("postgres", request))
    before = asked.shop.dump()
    for sql in ("SELECT lo_create(0)", "CREATE TEMP TABLE orders (x integer)", "SET search_path = 'x'"):
        with suppress(QueryRefused):
            await asked.sources["shop"].database.answer(Query(sql, frozenset(), frozenset()))
    assert asked.shop.dump() == before
    assert await asked.rows("SELECT count(*) AS n FROM orders") == [[3]]
    await asked.close()


@pytest.mark.parametrize("user", ["boss", "files"])
@pytest.mark.parametrize("kind", ["postgres", "mysql"])
async def test_a_user_with_rights_on_the_server_itself_is_not_used(
    kind: str, user: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = make_shop(kind, request)
    scheme, _, rest = shop.url.partition("://")
    asked = Asked(shop, url=f"{scheme}://{user}@{rest.partition('@')[2]}")
    with pytest.raises(DatabaseUnavailable, match="not configured safely"):
        await asked.query("SELECT 1 AS one")
    assert "give it another" in capsys.readouterr().out
    await asked.close()


async def test_a_function_of_ones_own_can_be_allowed(request: pytest.FixtureRequest) -> None:
    asked = Asked(make_shop("postgres", request), functions=["spy", "wipe"])
    before = asked.shop.dump()
    assert await asked.rows("SELECT spy() AS x") == [[42]]
    with pytest.raises(QueryRefused, match="read-only transaction"):
        await asked.query("SELECT wipe()")
    assert asked.shop.dump() == before
    await asked.close()


async def test_settings_do_not_survive_a_statement(request: pytest.FixtureRequest) -> None:
    asked = Asked(make_shop("postgres", request), functions=["set_config", "current_setting"], connections=1)
    for sql in ("SELECT set_config('statement_timeout', '0', false)", "SELECT set_config('search_path', 'x', false)"):
        with pytest.raises(TalariaError):
            await asked.query(sql)  # has_effects knows it, whatever is configured
    assert await asked.rows("SELECT current_setting('statement_timeout')") == [["30s"]]
    assert await asked.rows("SELECT current_setting('transaction_read_only')") == [["on"]]
    await asked.close()
