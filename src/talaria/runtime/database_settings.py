"""The section `databases` of the configuration: which databases models may read."""

from typing import Annotated

from pydantic import Field

from talaria.runtime.section import Bytes, Count, Positive, Section

DatabaseName = Annotated[str, Field(pattern=r"^[\w.-]{1,64}$")]


class DatabaseSettings(Section):
    """One database: sqlite:///path, postgresql://… or mysql://… (MariaDB too).

    `tables` that may be read, with their schema or without; none listed: all but the database's own. `about`: what is
    in it, for models. `functions` that may be called besides the usual ones. Of an answer `rows` are shown, `counted`
    at most counted, `maxBytes` at most read, for `timeout` seconds; `connections` at most at a time.
    """

    url: str = Field(repr=False)
    tables: list[str] = []
    about: str = ""
    functions: list[str] = []
    rows: Count = 50
    counted: Count = 10_000
    max_bytes: Bytes = 200_000
    timeout: Positive = 30
    connections: Count = 4
