"""Types of answers: the JSON Schema of any type that pydantic knows, and its values."""

from typing import Any, NamedTuple

from pydantic import TypeAdapter
from pydantic_core import to_json

from talaria.core.errors import ConfigurationError
from talaria.tools.answers import WRAPPED, answer_tool, is_wrapped, wrap
from talaria.tools.binding import Binding
from talaria.tools.declaration import Tool
from talaria.tools.inlining import plain_schema
from talaria.tools.schema import NAMES_KEYWORD, REFUSALS, WithNames


class OutputType(NamedTuple):
    """A type that answers have. `schema` is what the model sees; `named` also has the names of the members of enums."""

    adapter: TypeAdapter[Any]
    schema: dict[str, Any]
    named: dict[str, Any]

    def value(self, text: str) -> Any:
        """Return the value that an answer is.

        Raises:
            ValueError: it fits the schema, but not the type.
        """
        return self.adapter.validate_json(text)

    def tool(self, name: str) -> Tool[..., Any]:
        """Return the tool whose arguments are such an answer."""
        return answer_tool(self.schema, name, Binding(self._bind, (), 0, wrap(self.named)))

    def _bind(self, arguments: dict[str, Any]) -> dict[str, Any]:
        answer = arguments[WRAPPED] if is_wrapped(self.schema) else arguments
        return {WRAPPED: self.adapter.validate_json(to_json(answer))}


def read_type(output_type: Any, agent: str) -> OutputType:
    """Return what an agent's `output_type` means.

    Raises:
        ConfigurationError: pydantic does not know the type, or it has no JSON Schema.
    """
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(output_type)
        named = plain_schema(adapter.json_schema(schema_generator=WithNames))
    except REFUSALS as error:
        why = str(error).strip().partition("\n")[0]
        raise ConfigurationError(f"agent '{agent}': output_type {output_type!r} has no JSON Schema: {why}") from error
    return OutputType(adapter, plain_schema(named, NAMES_KEYWORD), named)
