"""Whether SQL is one statement that only reads. The database's own rights are the boundary; this says it in words."""

import re
from typing import Final

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import Token

from talaria.types.effects import has_effects
from talaria.types.sql import Dialect

READS: Final = ("SELECT", "WITH", "VALUES", "TABLE", "(")
NAMES: Final = {"sqlite": "SQLite", "postgres": "PostgreSQL", "mysql": "MySQL"}
WRITES: Final = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Copy, exp.DDL, exp.Command, exp.NextValueFor)
_ODD = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff]")
_ESCAPED_QUOTE = re.compile(r"""(?<!\\)(?:\\\\)*\\['"]""")
_OPTIONS = re.compile(r"(?:\s+(?:analyze|verbose|query\s+plan|format\s*=\s*\w+)\b|\s*\([\w\s,]*\))*", re.IGNORECASE)
_NAME = re.compile(r"\s*[\w.`]+\s*;?\s*")
_PRAGMA = re.compile(r"\s*(?:\w+\s*\.\s*)?(\w+)\s*(\(\s*\w+\s*\)|\(\s*'[^']*'\s*\)|\(\s*\"[^\"]*\"\s*\))?\s*;?\s*")
_PRAGMAS_OF: Final = {"table_info", "table_xinfo", "index_list", "index_info", "index_xinfo", "foreign_key_list"}
_PRAGMAS: Final = {"table_list", "database_list", "collation_list", "compile_options", "user_version", "page_count"}


def check_read_only(text: str, dialect: Dialect) -> None:
    """Check that `text` is exactly one statement that reads.

    Functions with effects are known by name: those that users defined are not.

    Raises:
        ValueError: it is not, or cannot be read; the message is for a model.
    """
    if _ODD.search(text):
        raise ValueError("holds a control character; give plain SQL")
    if dialect == "mysql" and _ESCAPED_QUOTE.search(text):  # with NO_BACKSLASH_ESCAPES the string ends there
        raise ValueError("escapes a quote by a backslash; double the quote instead")
    tokens = _one_statement(text, dialect)
    first, rest = tokens[0].text.upper(), text[tokens[0].end + 1 :]
    if dialect == "sqlite" and first == "PRAGMA":
        _check_pragma(rest)
    elif dialect != "sqlite" and first == "SHOW":
        _one_statement(rest, dialect)
    elif first in ("EXPLAIN", "DESCRIBE", "DESC"):
        explained = rest[_OPTIONS.match(rest).end() :]  # pyright: ignore[reportOptionalMemberAccess] - it may be empty
        if dialect != "mysql" or _NAME.fullmatch(explained) is None:
            _check_query(explained, dialect)
    else:
        _check_query(text, dialect)


def _one_statement(text: str, dialect: Dialect) -> list[Token]:
    """The tokens of the one statement there is."""
    try:
        tokens = sqlglot.tokenize(text, read=dialect)
    except SqlglotError as error:
        raise _unreadable(error, dialect) from error
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    if not tokens:
        raise ValueError("holds no statement")
    if any(token.token_type is TokenType.SEMICOLON for token in tokens):
        raise ValueError("holds several statements; give exactly one, without ';' inside")
    return tokens


def _check_pragma(rest: str) -> None:
    found = _PRAGMA.fullmatch(rest)
    allowed = _PRAGMAS if found is None or found[2] is None else _PRAGMAS_OF
    if found is None or found[1].lower() not in allowed:
        listed = ", ".join(sorted(_PRAGMAS | {f"{name}(…)" for name in _PRAGMAS_OF}))
        raise ValueError(f"holds a PRAGMA that may write; those that read are {listed}")


def _check_query(text: str, dialect: Dialect) -> None:
    tokens = _one_statement(text, dialect)
    if tokens[0].text.upper() not in READS:
        raise ValueError(f"begins with {tokens[0].text[:40]!r}; only a statement that reads is allowed, such as SELECT")
    _check_tokens(text, tokens)
    try:
        found = sqlglot.parse_one(text[: tokens[-1].end + 1], read=dialect)
    except SqlglotError as error:
        raise _unreadable(error, dialect) from error
    except RecursionError as error:
        raise ValueError("is nested too deeply; make it simpler") from error
    for node in found.walk():
        _check_node(node, dialect)
    if not isinstance(found, exp.Query | exp.Values):
        raise ValueError("is no query; give a SELECT")


def _check_tokens(text: str, tokens: list[Token]) -> None:
    for token, after in zip(tokens, [*tokens[1:], tokens[-1]], strict=True):
        if token.token_type is TokenType.INTO:
            raise ValueError("holds INTO, which writes; leave it out")
        if after.token_type is TokenType.L_PAREN and has_effects(token.text):
            raise ValueError(f"calls {token.text}, which does more than to read; leave it out")
        if any(comment.startswith(("!", "M!")) for comment in token.comments):
            raise ValueError("holds a comment that a database may run as code; leave comments out")
        if token.token_type is TokenType.IDENTIFIER and text[: token.start].upper().endswith("U&"):
            raise ValueError("holds a name in Unicode escapes; write it plainly")


def _check_node(node: exp.Expr, dialect: Dialect) -> None:
    if isinstance(node, WRITES):
        raise ValueError(f"holds {node.key.upper()}, which writes; only reading is allowed, also inside WITH")
    if isinstance(node, exp.Lock):
        raise ValueError("locks what it reads; leave FOR UPDATE, FOR SHARE and LOCK out")
    if dialect == "mysql" and isinstance(node, exp.PropertyEQ):
        raise ValueError("sets a variable by ':='; leave it out")


def _unreadable(error: SqlglotError, dialect: Dialect) -> ValueError:
    near = ""
    if isinstance(error, ParseError) and error.errors:
        first = error.errors[0]
        near = f", at {first['highlight'][:40]!r} in line {first['line']}, column {first['col']}"
    return ValueError(f"cannot be read as SQL of {NAMES[dialect]}{near}")
