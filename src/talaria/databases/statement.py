"""Reads one statement: that it only reads, which tables it names, and which functions it calls. Pure."""

from collections import Counter
from collections.abc import Iterator

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.tokenizer_core import Token

from talaria.databases.functions import FUNCTIONS, GRAMMAR
from talaria.ports.database import Name, Query, QueryRefused
from talaria.types.read_only import READS, check_read_only
from talaria.types.sql import Dialect

_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
_PARAMETERS = (exp.Parameter, exp.SessionParameter, exp.Placeholder)


def read_query(sql: str, dialect: Dialect, home: str, more: frozenset[str] = frozenset()) -> Query:
    """Return the one SELECT, VALUES or TABLE that `sql` is; names without a schema are those of schema `home`.

    `more`: functions that it may call besides the usual ones.

    Raises:
        QueryRefused: it is something else, or calls other functions; the message is for a model.
    """
    try:
        check_read_only(sql, dialect)
    except ValueError as error:
        raise QueryRefused(f"sql {error}") from error
    tokens = sqlglot.tokenize(sql, read=dialect)
    while tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    if tokens[0].text.upper() not in READS:
        raise QueryRefused(f"sql begins with {tokens[0].text[:40]!r}; give a SELECT, or ask database_schema")
    sql = sql[: tokens[-1].end + 1]
    found = sqlglot.parse_one(sql, read=dialect)
    _check_calls(tokens, found, FUNCTIONS[dialect] | more)
    if next(found.find_all(*_PARAMETERS), None) is not None:
        raise QueryRefused("sql holds a parameter or a variable; write the value itself")
    defined = frozenset(_folded(each.args["alias"].this, dialect) for each in found.find_all(exp.CTE))
    return Query(sql, frozenset(_tables(found, dialect, home)), defined)


def _check_calls(tokens: list[Token], found: exp.Expr, allowed: frozenset[str]) -> None:
    """Whatever stands before a parenthesis is a function that is allowed, a word of the grammar, or an alias."""
    named = Counter(each.name for each in found.find_all(exp.TableAlias) if each.args.get("columns"))
    before: list[Token | None] = [None, *tokens]
    for prior, token, after in zip(before, tokens, tokens[1:], strict=False):
        if after.token_type is not TokenType.L_PAREN or not token.text.isidentifier():
            continue
        if named[token.text] > 0:
            named[token.text] -= 1
            continue
        quoted = token.token_type is TokenType.IDENTIFIER
        name = token.text if quoted else token.text.lower()
        if prior is not None and prior.token_type is TokenType.DOT:
            raise QueryRefused(f"sql calls {name} by its schema; call functions by their plain names")
        if name not in allowed and (quoted or name not in GRAMMAR):
            raise QueryRefused(f"sql calls {token.text}, which is not among the functions that may be called here")


def _tables(found: exp.Expr, dialect: Dialect, home: str) -> Iterator[Name]:
    for table in found.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            continue  # a function, which was checked
        if table.catalog:
            raise QueryRefused(f"sql names {table.catalog}.{table.db}.{table.name}; give at most schema and table")
        name = _folded(table.this, dialect)
        if table.args.get("db") is not None:
            yield Name(_folded(table.args["db"], dialect), name)
        elif not _is_defined(table, name, dialect) and not (dialect == "mysql" and name.casefold() == "dual"):
            yield Name(home, name)


def _is_defined(table: exp.Table, name: str, dialect: Dialect) -> bool:
    """Whether a WITH around the table defines the name where the table stands; in doubt it does not."""
    inside: exp.Expr = table
    while (around := inside.parent) is not None:
        seen: list[exp.Expr] = []
        if isinstance(around, exp.With):
            seen = around.expressions[: _place(around, inside) + bool(around.args.get("recursive"))]
        elif not isinstance(inside, exp.With) and (clause := around.args.get("with_")) is not None:
            seen = clause.expressions
        if any(_folded(each.args["alias"].this, dialect) == name for each in seen):
            return True
        inside = around
    return False


def _place(clause: exp.With, inside: exp.Expr) -> int:
    return next(place for place, each in enumerate(clause.expressions) if each is inside)


def _folded(name: exp.Expr, dialect: Dialect) -> str:
    """The name as its database compares it."""
    text = name.name
    if dialect == "sqlite" or (dialect == "postgres" and not name.args.get("quoted")):
        return text.lower()
    return text
