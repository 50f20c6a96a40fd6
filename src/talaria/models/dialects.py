"""The dialects there are: built in, by name; "mapped" by its route; a class of one's own, as "package.module:Class"."""

import importlib
from collections.abc import Callable, Mapping
from typing import cast

from talaria.core.errors import ConfigurationError
from talaria.models.anthropic.dialect import AnthropicDialect
from talaria.models.mapped.dialect import MappedDialect
from talaria.models.openai.dialect import OpenAiDialect
from talaria.models.responses.dialect import ResponsesDialect
from talaria.models.routes import Route
from talaria.ports.model import Dialect

BUILT_IN: Mapping[str, Callable[[], Dialect]] = {
    "anthropic": AnthropicDialect,
    "deepseek": OpenAiDialect,
    "openai": OpenAiDialect,
    "responses": ResponsesDialect,
}
MAPPED = "mapped"
_MEMBERS = ("request", "decoder", "failure")


def make_dialect(route: Route) -> Dialect:
    """Return the dialect of a route.

    Raises:
        ConfigurationError: there is none of that name.
    """
    if ":" in route.dialect:
        return _own(route)
    if route.dialect == MAPPED:
        return _mapped(route)
    make = BUILT_IN.get(route.dialect)
    if make is None:
        known = ", ".join(sorted((*BUILT_IN, MAPPED)))
        raise _wrong(route, f"there are {known}, and classes of your own as package.module:Class")
    return make()


def _mapped(route: Route) -> Dialect:
    if route.mapping is None:
        raise _wrong(route, "it needs a mapping")
    return MappedDialect(route.mapping)


def _own(route: Route) -> Dialect:
    module, _, name = route.dialect.partition(":")
    try:
        made = getattr(importlib.import_module(module), name)()
    except ModuleNotFoundError as error:
        raise _wrong(route, f"{error}; put it where talaria is started, or install it") from error
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise _wrong(route, f"it cannot be made: {error}") from error
    missing = [member for member in _MEMBERS if not callable(getattr(made, member, None))]
    if missing:
        raise _wrong(route, f"it has no {', '.join(missing)}")
    return cast("Dialect", made)


def _wrong(route: Route, why: str) -> ConfigurationError:
    return ConfigurationError(f"models: the route '{route.prefix}' has the dialect '{route.dialect}'; {why}")
