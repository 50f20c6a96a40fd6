"""What the `mapping` of a route may say: where a private protocol has what every model call needs."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from talaria.models.mapped.paths import getter
from talaria.models.mapped.template import DEFAULT, placeholders, unknown_placeholder
from talaria.ports.model import Finish


def _path(text: str) -> str:
    try:
        getter(text)
    except ValueError as error:
        raise PydanticCustomError("path", "{why}", {"why": str(error)}) from None
    return text


def _template(value: dict[str, Any]) -> dict[str, Any]:
    wrong = unknown_placeholder(value)
    if wrong:
        raise PydanticCustomError("placeholder", "{why}", {"why": wrong})
    return value


Where = Annotated[str, AfterValidator(_path)]
UrlPath = Annotated[str, Field(pattern=r"^/")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)


class CallsMapping(_Part):
    """Where the list of tool calls is, and where in each call its parts are; arguments as an object or as text.

    Without `name`, each call is read as chat completions have it.
    """

    path: Where
    id: Where = "id"
    name: Where | None = None
    arguments: Where = "arguments"


class UsageMapping(_Part):
    """Where the usage is, and where in it the counts are; without `input`, it is read as OpenAI writes it."""

    path: Where = ""
    input: Where | None = None
    output: Where | None = None
    cached: Where | None = None
    reasoning: Where | None = None


class ErrorMapping(_Part):
    """Where an error is told of: anything there is one, but null, false, "" and the codes that are `fine`."""

    path: Where
    fine: list[str | int] = [0, 200]
    message: Where | None = None


class ProtocolMapping(_Part):
    """A private protocol. `call` answers with one JSON document, `stream` with events or JSON lines.

    Paths lead into each event, or into the document. `cumulative`: each event has all text, reasoning and calls so far.
    `end`: the event, as text, that ends a stream. `finish` is why the answer ended; `finishReasons` translates it.
    """

    call: UrlPath | None = None
    stream: UrlPath | None = None
    request: Annotated[dict[str, Any], AfterValidator(_template)] = DEFAULT
    text: Where
    reasoning: Where | None = None
    tool_calls: CallsMapping | None = None
    usage: UsageMapping | None = None
    finish: Where | None = None
    finish_reasons: dict[str, Finish] = {}
    error: ErrorMapping | None = None
    end: Annotated[str, Field(min_length=1)] | None = None
    cumulative: bool = False

    @field_validator("tool_calls", "usage", "error", mode="before")
    @classmethod
    def _at_path(cls, value: Any) -> Any:
        """A path alone stands for {path: …}."""
        return {"path": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _has_a_way(self) -> "ProtocolMapping":
        if self.call is None and self.stream is None:
            raise PydanticCustomError("way", "it has neither 'call' nor 'stream'; name the path that is asked")
        return self

    def capabilities(self) -> dict[str, Any]:
        """Return what a model that is asked like this cannot be asked for, as the capabilities of its route."""
        asked = frozenset(placeholders(self.request))
        lacks: dict[str, Any] = {"jsonSchema": False, "forcedChoice": "never"}
        if self.tool_calls is None or "$tools" not in asked or asked.isdisjoint(("$messages", "$prompt")):
            lacks["tools"] = False
        if "$messages" not in asked:
            lacks["vision"] = False
        if "$temperature" not in asked:
            lacks["sampling"] = "never"
        if "$thinking" not in asked:
            lacks["reasoning"] = "never"
        return lacks
