"""SQL that only reads: what is taken, what is refused, and what a model is told."""

import pytest
from inline_snapshot import snapshot

from talaria import tool
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from talaria.tools.arguments import bind
from talaria.tools.errors import ArgumentsInvalid
from talaria.types import ReadOnlyMySql, ReadOnlyPostgres, ReadOnlySql, ReadOnlySqlite
from talaria.types.effects import has_effects
from talaria.types.read_only import check_read_only
from talaria.types.sql import Dialect
from tests.runtime.world import world

EVERYWHERE = (
    "SELECT 1",
    "  -- c\n SELECT 'DELETE; DROP' AS x",
    "WITH a AS (SELECT 1) SELECT * FROM a",
    "VALUES ROW(1)",
    "SELECT 1;",
    "SELECT 1 /* ; */ ; ;",
    "select x from t where y in (select z from u) order by 1 limit 3",
    "SELECT 'pg_sleep(3) INTO x FOR UPDATE'",
    "SELECT count(*), max(sleep), edit FROM t GROUP BY edit",
    "EXPLAIN SELECT 1",
)
POSTGRES = (
    *(each for each in EVERYWHERE if "ROW" not in each),
    "(SELECT 1) UNION (SELECT 2)",
    "VALUES (1)",
    'select "update" from t',
    "SELECT $$a;b$$ -- postgres",
    "SELECT a$$ FROM t",
    "SELECT E'a\\'; DELETE FROM t; --'",
    "TABLE t",
    "EXPLAIN ANALYZE SELECT 1",
    "EXPLAIN (ANALYZE, BUFFERS) SELECT 1",
    "SHOW work_mem",
    "select a::int, b->>'x', current_setting('work_mem') from t",
    "SELECT 1 /* a /* nested */ ; */",
)
SQLITE = (
    *(each for each in EVERYWHERE if "ROW" not in each),
    "select `a`, [b] from t where c glob 'a*'",
    "EXPLAIN QUERY PLAN SELECT 1",
    "PRAGMA table_info(t)",
    "PRAGMA main.table_xinfo('t');",
    "PRAGMA user_version",
    "SELECT * FROM pragma_table_info('t')",
)
MYSQL = (
    *(each for each in EVERYWHERE if "VALUES" not in each),
    "select `a` from t # ; DELETE",
    "SHOW TABLES LIKE 'a%'",
    "DESCRIBE t",
    "EXPLAIN FORMAT=TREE SELECT 1",
    "SELECT 5--1",
    "SELECT group_concat(a SEPARATOR ', ') FROM t",
    "SELECT 'it''s', 'a\\\\', 'b\\n'",
)
TAKEN = [
    *(("postgres", each) for each in POSTGRES),
    *(("sqlite", each) for each in SQLITE),
    *(("mysql", each) for each in MYSQL),
]
NOWHERE = (
    "",
    "-- nothing",
    ";",
    "WITH x AS (SELECT 1) DELETE FROM t",
    "WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d",
    "WITH d AS (UPDATE t SET a = 1 RETURNING *) SELECT * FROM d",
    "WITH d AS (INSERT INTO t VALUES (1) RETURNING *) SELECT * FROM d",
    "SELECT * FROM (WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d) AS x",
    "/* SELECT */ DELETE FROM t",
    "-- SELECT\nDELETE FROM t",
    "SELECT 1; DELETE FROM t",
    "SELECT 1; SELECT 2",
    "SELECT * INTO n FROM t",
    "SELECT 1 INTO OUTFILE '/tmp/x'",
    "EXPLAIN ANALYZE DELETE FROM t",
    "EXPLAIN (ANALYZE) DELETE FROM t",
    "EXPLAIN SELECT 1; DELETE FROM t",
    "EXPLAIN ANALYZE EXECUTE p",
    "EXPLAIN EXPLAIN SELECT 1",
    "DESC ANALYZE DELETE FROM t",
    "SHOW x; DELETE FROM t",
    "CREATE TEMP TABLE x AS SELECT 1",
    "SELECT * FROM t FOR UPDATE",
    "SELECT * FROM t FOR NO KEY UPDATE SKIP LOCKED",
    "SELECT * FROM (SELECT * FROM t FOR SHARE) AS x",
    "DO $$ BEGIN DELETE FROM t; END $$",
    "CALL p()",
    "SET ROLE admin",
    "BEGIN",
    "COMMIT",
    "COPY t TO '/tmp/x'",
    "COPY (SELECT 1) TO PROGRAM 'sh'",
    "VACUUM INTO 'x'",
    "GRANT ALL ON t TO x",
    "LOCK TABLE t",
    "LISTEN x",
    "PREPARE p AS DELETE FROM t",
    "MERGE INTO t USING s ON a = b WHEN MATCHED THEN DELETE",
    "REPLACE INTO t VALUES (1)",
    "ATTACH 'x' AS y",
    "DETACH y",
    "REINDEX",
    "\ufeffDELETE FROM t",
    "\ufeffSELECT 1",
    "SELECT 1\0; DELETE FROM t",
    "DELETE/**/FROM/**/t",
    "SELECT pg_sleep(3)",
    "SELECT pg_catalog.pg_sleep (3)",
    "SELECT PG_SLEEP /* c */ (3)",
    "SELECT sleep(3)",
    "SELECT nextval('s')",
    "SELECT * FROM dblink('a', 'b') AS t(x int)",
    "SELECT 1 FROM t WHERE setval('s', 1) > 0",
    "SELECT load_extension('x')",
    "SELECT writefile('a', 'b')",
    "SELECT query_to_xml('DELETE FROM t', true, true, '')",
    "SELECT " + "(" * 5000 + "1" + ")" * 5000,
)
REFUSED: list[tuple[Dialect, str]] = [
    *(("postgres", each) for each in NOWHERE),
    *(("sqlite", each) for each in NOWHERE),
    *(("mysql", each) for each in NOWHERE),
    ("postgres", 'SELECT "pg_sleep"(3)'),
    ("postgres", 'SELECT U&"pg\\005fsleep"(3)'),
    ("postgres", "SELECT 'a\\'; DELETE FROM t; --'"),
    ("postgres", "SELECT a$$; DELETE FROM t; --$$"),
    ("postgres", "EXPLAIN (DELETE FROM t) SELECT 1; DELETE FROM t"),
    ("sqlite", "SELECT 1 /* /* */ ; DELETE FROM t -- */"),
    ("sqlite", "PRAGMA journal_mode=WAL"),
    ("sqlite", "PRAGMA user_version(5)"),
    ("sqlite", "PRAGMA user_version = 5"),
    ("sqlite", "PRAGMA writable_schema = 1"),
    ("sqlite", "PRAGMA table_info(t); DELETE FROM t"),
    ("sqlite", "SHOW TABLES"),
    ("mysql", "SELECT 1 /* /* */ ; DELETE FROM t -- */"),
    ("mysql", "SELECT 1 --1; DELETE FROM t"),
    ("mysql", "SELECT '\\' INTO OUTFILE \"/tmp/x\" -- '"),
    ("mysql", "SELECT 'a\\\\\\' INTO OUTFILE 0x2f -- '"),
    ("mysql", "SELECT /*!50000 1 INTO OUTFILE '/tmp/x' */"),
    ("mysql", "SELECT 1 /*M! INTO OUTFILE '/tmp/x' */"),
    ("mysql", "/*!50000 DELETE FROM t */"),
    ("mysql", "SELECT @a := 1"),
    ("mysql", "SELECT a INTO @x FROM t"),
    ("mysql", "SELECT * FROM t LOCK IN SHARE MODE"),
    ("mysql", "SELECT NEXT VALUE FOR s"),
    ("mysql", "SELECT 'a\\'', sleep(3), '"),
    ("mysql", "LOAD DATA INFILE 'x' INTO TABLE t"),
    ("mysql", "HANDLER t OPEN"),
]


@pytest.mark.parametrize(("dialect", "text"), TAKEN)
def test_what_reads_is_taken(dialect: Dialect, text: str) -> None:
    check_read_only(text, dialect)


@pytest.mark.parametrize(("dialect", "text"), REFUSED)
def test_what_does_more_is_refused_in_words(dialect: Dialect, text: str) -> None:
    with pytest.raises(ValueError, match=r"^[a-z].{9,300}$"):
        check_read_only(text, dialect)


def test_functions_that_only_read_are_known_from_those_that_do_more() -> None:
    reads = "count max now lower coalesce current_setting pg_typeof pg_get_viewdef pg_relation_size json_extract lag"
    assert not [name for name in reads.split() if has_effects(name)]
    does = (
        "PG_SLEEP_FOR lo_import lo_unlink pg_read_file pg_read_binary_file pg_ls_dir pg_stat_file pg_file_write "
        "pg_terminate_backend pg_reload_conf pg_advisory_lock dblink_exec get_lock load_file benchmark sys_exec eval "
        "pg_logical_emit_message pg_backup_start pg_start_backup pg_switch_wal txid_current writefile "
        "pg_stat_statements_reset pg_prewarm pg_sync_replication_slots pg_restore_relation_stats "
        "pg_clear_attribute_stats pg_nextoid binary_upgrade_set_next_pg_type_oid query_export_to_s3 "
        "run_command_on_workers pg_background_launch version_tokens_set service_release_locks set_firewall_mode "
        "load_rewrite_rules spider_direct_sql mroonga_command innodb_redo_log_archive_start masking_dictionary_term_add"
    )
    assert [name for name in does.split() if not has_effects(name)] == []


@tool(side_effects=False)
def ask(
    anywhere: ReadOnlySql = "SELECT 1",
    sqlite: ReadOnlySqlite = "SELECT 1",
    postgres: ReadOnlyPostgres = "SELECT 1",
    mysql: ReadOnlyMySql = "SELECT 1",
) -> str:
    """Ask the database."""
    return f"{anywhere} | {sqlite} | {postgres} | {mysql}"


def taken(**arguments: str) -> bool:
    try:
        bind(ask, arguments)
    except ArgumentsInvalid:
        return False
    return True


def test_each_type_reads_its_dialect_and_the_plain_one_takes_what_all_of_them_do() -> None:
    for name, own in (("sqlite", "PRAGMA table_info(t)"), ("postgres", "SHOW work_mem"), ("mysql", "DESCRIBE t")):
        assert taken(**{name: own})
        assert not taken(anywhere=own)
    assert taken(anywhere="SELECT 1")
    assert not taken(anywhere="SELECT 'a\\'; DELETE FROM t; -- '")


async def test_the_model_is_told_what_to_change() -> None:
    given = (
        "DROP TABLE t",
        "SELECT 1; SELECT 2",
        "SELECT * FROM t FOR UPDATE",
        "SELECT pg_sleep(9)",
        "SELECT FROM WHERE",
    )
    calls = tuple(Call("ask", {"postgres": each}) for each in given)
    async with world(ScriptedModel(Say(calls=calls), Say("Done.")), tools=[ask]) as here:
        events = await here.ask()
    answers = [str(each.result).partition("- postgres: ")[2] for event in events for each in event.tool_results or ()]
    assert answers == snapshot(
        [
            "begins with 'DROP'; only a statement that reads is allowed, such as SELECT, got \"DROP TABLE t\"",
            "holds several statements; give exactly one, without ';' inside, got \"SELECT 1; SELECT 2\"",
            'locks what it reads; leave FOR UPDATE, FOR SHARE and LOCK out, got "SELECT * FROM t FOR UPDATE"',
            'calls pg_sleep, which does more than to read; leave it out, got "SELECT pg_sleep(9)"',
            "cannot be read as SQL of PostgreSQL, at 'WHERE' in line 1, column 17, got \"SELECT FROM WHERE\"",
        ]
    )
