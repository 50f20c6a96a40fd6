"""Masks in recorded tests: known secrets, and what looks like one."""

import re
from collections.abc import Mapping
from typing import Any, cast

from talaria.core.redaction import MASK, Redactor

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_LOOKS_SECRET = re.compile(
    r"\b(?:sk|pk|rk|ghp|gho|xox[abps]|glpat)[-_][A-Za-z0-9_-]{16,}|\bAKIA[0-9A-Z]{16}\b"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+|(?<=[Bb]earer )[A-Za-z0-9._~+/=-]{12,}"
)


class Masks:
    """Masks `secrets`, the variables of `environ` whose names say that they are secret, and what looks like a key."""

    def __init__(self, secrets: Mapping[str, str], environ: Mapping[str, str]) -> None:
        variables = {name: value for name, value in environ.items() if _SECRET_NAME.search(name) and len(value) > 7}
        self._redactor = Redactor({**variables, **secrets})

    def masked(self, value: Any) -> Any:
        """Return a JSON value with every secret in its texts replaced."""
        if isinstance(value, str):
            return _LOOKS_SECRET.sub(MASK, self._redactor.mask(value))
        if isinstance(value, dict):
            return {self.masked(key): self.masked(each) for key, each in cast("dict[Any, Any]", value).items()}
        if isinstance(value, list):
            return [self.masked(each) for each in cast("list[Any]", value)]
        if isinstance(value, tuple):
            return tuple(self.masked(each) for each in cast("tuple[Any, ...]", value))
        return value
