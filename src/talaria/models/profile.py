"""Profiles: facts of a model family that requests, retries and prices depend on."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from talaria.core.errors import ConfigurationError


class Price(msgspec.Struct, frozen=True, gc=False):
    """Money per million tokens. `cached` is the price of input that came from the provider's cache (None: as input)."""

    input: float = 0.0
    output: float = 0.0
    cached: float | None = None
    currency: str = "USD"


class Profile(msgspec.Struct, frozen=True, gc=False):
    """What a model takes and gives. The defaults are those of a full chat-completions model.

    `empty_content`: what an assistant message with calls and no text has as content; "omit" also means that no
    message may have an empty text. `reasoning_back`: which messages go back with their reasoning, in the field
    `reasoning_field`. `max_tokens_field`: the name of the token limit. `system_role`: "developer" for some models.
    `thinking_on` / `thinking_off`: a JSON object whose members are added to the request when thinking is asked for,
    or asked not to be. `temperature`, `forced_choice`, `vision`, `usage_option`: whether the model takes them.
    `json_schema`: whether it takes a schema for its answer (`response_format`).
    """

    empty_content: Literal["null", "empty", "omit"] = "null"
    reasoning_back: Literal["never", "with_tools", "always"] = "never"
    reasoning_field: Literal["reasoning_content", "reasoning"] = "reasoning_content"
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    system_role: Literal["system", "developer"] = "system"
    thinking_on: str = ""
    thinking_off: str = ""
    temperature: bool = True
    forced_choice: bool = True
    vision: bool = True
    usage_option: bool = True
    json_schema: bool = True
    price: Price | None = None

    def override(
        self,
        capabilities: Mapping[str, Any] | None = None,
        price: Mapping[str, Any] | None = None,
        thinking: Mapping[str, Any] | None = None,
    ) -> "Profile":
        """Return this profile with what a route's `capabilities`, `price` and `thinking` say instead.

        Raises:
            ConfigurationError: an unknown key or a wrong value; the message names it.
        """
        values = msgspec.structs.asdict(self) | {
            _snake(key): _text(value) for key, value in (capabilities or {}).items()
        }
        if price is not None:
            values["price"] = dict(price)
        if thinking and "effort" in thinking:
            values["thinking_on"] = _text({"reasoning_effort": thinking["effort"]})
        unknown = sorted(set(values) - set(self.__struct_fields__))
        if unknown:
            known = ", ".join(self.__struct_fields__)
            raise ConfigurationError(f"models: capabilities has no key '{unknown[0]}'; there are {known}")
        if isinstance(values["price"], Price):
            values["price"] = msgspec.structs.asdict(values["price"])
        try:
            return msgspec.convert(values, Profile)
        except msgspec.ValidationError as error:
            raise ConfigurationError(f"models: capabilities or price: {error}") from error


def _snake(key: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)


def _text(value: Any) -> Any:
    return msgspec.json.encode(value).decode() if isinstance(value, dict) else value
