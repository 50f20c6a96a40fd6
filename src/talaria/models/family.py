"""A family of models, as its row in a table of families says it."""

from collections.abc import Mapping
from typing import Any

import msgspec


class Family(msgspec.Struct, frozen=True, gc=False):
    """A family: `facts` hold in whatever dialect it is asked, `told` holds in one: {dialect: …}. Fields of Profile."""

    prefix: str
    facts: Mapping[str, Any] = {}
    told: Mapping[str, Mapping[str, Any]] = {}
