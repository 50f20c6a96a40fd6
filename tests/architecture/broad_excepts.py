"""The boundaries at which any exception is caught, and why: the only broad excepts there are.

Each also carries `# noqa: BLE001` unless it raises again. A new one needs a line here and a good reason.
"""

from typing import NamedTuple


class Boundary(NamedTuple):
    """How many broad excepts a file has, and why they must be."""

    times: int
    reason: str


BROAD_EXCEPTS: dict[str, Boundary] = {}
"""File below src/talaria, such as "tools/stages/run.py" → its broad excepts."""
