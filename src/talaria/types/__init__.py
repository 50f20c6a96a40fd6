"""Types for the parameters of tools, checked before a call runs: public addresses, workspace paths, SQL that reads.

`PublicUrl` looks at the address only: a name may still lead to a private host, so whoever connects has to check again.
`WorkspacePath` looks at the text only: a link inside the workspace may still lead out of it.
`ReadOnlySql` looks at the text only: the database's own rights must be those of a reader too.
"""

from talaria.types.paths import WorkspacePath
from talaria.types.sql import ReadOnlyMySql, ReadOnlyPostgres, ReadOnlySql, ReadOnlySqlite
from talaria.types.urls import PublicUrl

__all__ = [
    "PublicUrl",
    "ReadOnlyMySql",
    "ReadOnlyPostgres",
    "ReadOnlySql",
    "ReadOnlySqlite",
    "WorkspacePath",
]
