"""Conditions of rules, in CEL: compiled and checked for their types once, evaluated within a budget.

The language (https://cel.dev) has no loops and no side effects; its runtime gives up at ten thousand iterations of
macros such as `all`, and `matches` takes time linear in its text.
"""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from talaria.core.errors import ConfigurationError

if TYPE_CHECKING:
    from cel_expr_python import cel


class _Language:
    """The language with our variables; its library takes 8 MB and is not there for every platform."""

    def __init__(self) -> None:
        try:
            from cel_expr_python import cel  # noqa: PLC0415 - only where a rule has a condition
        except ImportError as error:
            raise ConfigurationError("conditions (`when`) need the package cel-expr-python; install it") from error
        self.types = cel.Type
        anything = cel.Type.Map(cel.Type.STRING, cel.Type.DYN)
        variables = {"args": anything, "principal": anything, "agent": cel.Type.STRING, "tool": anything}
        self.env = cel.NewEnv(variables=variables)


_language = cache(_Language)


class ConditionFailed(Exception):
    """It is not known whether the condition holds: a member is missing, a type is wrong, it would take too long."""


class Facts:
    """What conditions see of one call. It is converted once, when the first condition asks."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self._converted: cel.Activation | None = None

    @property
    def converted(self) -> "cel.Activation":
        """As the language's runtime takes it; whatever that raises: a value is none that the language has."""
        if self._converted is None:
            self._converted = _language().env.Activation(self._values)
        return self._converted


class Condition:
    """An expression over `args`, `principal`, `agent` and `tool` that says yes or no."""

    def __init__(self, text: str) -> None:
        """Compile it.

        Raises:
            ConfigurationError: it is no expression, names what is not there, or does not say yes or no.
        """
        self.text = text
        language = _language()
        self._types = language.types
        try:
            self._expression = language.env.compile(text)
        except RuntimeError as error:
            raise ConfigurationError(f"'{text}' is no condition: {_first_line(error)}") from error
        kind = self._expression.return_type()
        if kind not in (self._types.BOOL, self._types.DYN):
            raise ConfigurationError(f"'{text}' is no condition: it gives {kind.name()}, and must say true or false")

    def holds(self, facts: Facts) -> bool:
        """Whether it holds.

        Raises:
            ConditionFailed: that cannot be said.
        """
        try:
            value = self._expression.eval(facts.converted)
            kind, said = value.type(), value.value()
        except Exception as error:
            raise ConditionFailed(_first_line(error)) from error
        if kind != self._types.BOOL:
            raise ConditionFailed(str(said) if kind == self._types.ERROR else f"it gave {kind.name()}")
        return said is True


def _first_line(error: Exception) -> str:
    return str(error).removeprefix("INVALID_ARGUMENT: ERROR: ").partition("\n")[0]
