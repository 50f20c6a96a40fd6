"""What turns a call's JSON values into the values a function takes. Made once a tool, at its declaration."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Binding:
    """`validate` returns Python values by parameter name and raises ValueError (pydantic's) where it cannot.

    `defaults`: parameters that may be left out, and the value the function has for each. `size`: of all parameters.
    `schema` is that of the parameters, with the names of the members of enums.
    """

    validate: Callable[[dict[str, Any]], dict[str, Any]]
    defaults: tuple[tuple[str, Any], ...]
    size: int
    schema: dict[str, Any]

    def values(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return a value for every parameter."""
        values = self.validate(arguments)
        if len(values) < self.size:
            for name, default in self.defaults:
                values.setdefault(name, default)
        return values


@dataclass(frozen=True, slots=True)
class Described:
    """What a function's signature and docstring say of it as a tool. `says_nothing`: it is declared to return None."""

    description: str
    parameters: dict[str, Any]
    binding: Binding
    says_nothing: bool
