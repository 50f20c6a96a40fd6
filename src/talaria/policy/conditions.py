"""Conditions of rules, in CEL: compiled and checked for their types once, evaluated within a budget.

The language (https://cel.dev) has no loops and no side effects; its runtime gives up at ten thousand iterations of
macros such as `all`, and `matches` takes time linear in its text.
"""

from collections.abc import Mapping
from typing import Any

from cel_expr_python import cel

from talaria.core.errors import ConfigurationError

_ANYTHING = cel.Type.Map(cel.Type.STRING, cel.Type.DYN)
_ENV = cel.NewEnv(
    variables={"args": _ANYTHING, "principal": _ANYTHING, "agent": cel.Type.STRING, "tool": _ANYTHING},
)
KNOWN = "a condition is CEL and knows args, principal, agent and tool"


class ConditionFailed(Exception):
    """It is not known whether the condition holds: a member is missing, a type is wrong, it would take too long."""


class Facts:
    """What conditions see of one call. It is converted once, when the first condition asks."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self._converted: cel.Activation | None = None

    @property
    def converted(self) -> cel.Activation:
        """As the language's runtime takes it; whatever that raises: a value is none that the language has."""
        if self._converted is None:
            self._converted = _ENV.Activation(self._values)
        return self._converted


class Condition:
    """An expression over `args`, `principal`, `agent` and `tool` that says yes or no."""

    def __init__(self, text: str) -> None:
        """Compile it.

        Raises:
            ConfigurationError: it is no expression, names what is not there, or does not say yes or no.
        """
        self.text = text
        try:
            self._expression = _ENV.compile(text)
        except RuntimeError as error:
            raise ConfigurationError(f"'{text}' is no condition: {_first_line(error)}; {KNOWN}") from error
        kind = self._expression.return_type()
        if kind not in (cel.Type.BOOL, cel.Type.DYN):
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
        if kind != cel.Type.BOOL:
            raise ConditionFailed(str(said) if kind == cel.Type.ERROR else f"it gave {kind.name()}")
        return said is True


def _first_line(error: Exception) -> str:
    return str(error).removeprefix("INVALID_ARGUMENT: ERROR: ").partition("\n")[0]
