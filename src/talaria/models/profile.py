"""What a route's configuration says about its models, over what is known of them."""

import re
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from talaria.core.errors import ConfigurationError
from talaria.ports.profile import Price, Profile

EFFORT = "medium"
BUDGET = 8_000
"""Tokens to think with, for models that want a number."""
_EFFORT = re.compile(r'"\$effort(?::(\w+))?"')


def overridden(
    profile: Profile, capabilities: Mapping[str, Any] | None = None, price: Mapping[str, Any] | None = None
) -> Profile:
    """Return the profile with what a route's `capabilities` and `price` say instead.

    Raises:
        ConfigurationError: an unknown key or a wrong value; the message names it.
    """
    values = msgspec.structs.asdict(profile) | {
        _snake(key): _text(value) for key, value in (capabilities or {}).items()
    }
    if price is not None:
        values["price"] = dict(price)
    unknown = sorted(set(values) - set(Profile.__struct_fields__))
    if unknown:
        known = ", ".join(Profile.__struct_fields__)
        raise ConfigurationError(f"models: capabilities has no key '{unknown[0]}'; there are {known}")
    if isinstance(values["price"], Price):
        values["price"] = msgspec.structs.asdict(values["price"])
    try:
        return msgspec.convert(values, Profile)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"models: capabilities or price: {error}") from error


def with_thinking(profile: Profile, thinking: Mapping[str, Any]) -> Profile:
    """Return the profile with a route's `thinking`, {effort, budget}, put where the model is told of it."""
    return msgspec.structs.replace(
        profile,
        thinking_on=_filled(profile.thinking_on, thinking),
        thinking_off=_filled(profile.thinking_off, thinking),
    )


def _filled(members: str, thinking: Mapping[str, Any]) -> str:
    def effort(found: re.Match[str]) -> str:
        return msgspec.json.encode(thinking.get("effort") or found[1] or EFFORT).decode()

    return _EFFORT.sub(effort, members).replace('"$budget"', str(thinking.get("budget") or BUDGET))


def _snake(key: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)


def _text(value: Any) -> Any:
    return msgspec.json.encode(cast("dict[str, Any]", value)).decode() if isinstance(value, dict) else value
