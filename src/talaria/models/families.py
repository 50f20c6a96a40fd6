"""Families of models: what is known of each, from its provider's documents. A route's configuration has the last word.

A model's family is the one with the longest prefix of its name, whatever stands before the last "/" in it and in
whatever case: "anthropic/claude-opus-4.1" is as "claude-opus-4.1".
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from talaria.models.family import Family
from talaria.models.known import claude, deepseek, glm, google, kimi, mistral, openai, others, qwen
from talaria.models.profile import overridden, with_thinking
from talaria.ports.profile import Profile

DIALECTS: Mapping[str, Profile] = {
    "openai": Profile(thinking_on='{"reasoning_effort":"$effort"}', thinking_off='{"reasoning_effort":"none"}'),
    "anthropic": Profile(**claude.TOLD, thinking_on=claude.BUDGET, thinking_off=claude.DISABLED),
    "deepseek": Profile(**deepseek.FACTS, **deepseek.TOLD),
    "responses": Profile(
        thinking_on='{"reasoning":{"effort":"$effort","summary":"auto"}}',
        thinking_off='{"reasoning":{"effort":"none"}}',
    ),
}
"""What is taken of a model that nobody knows, by the dialect in which it is asked."""

REMEMBERED = 256
"""Names of models whose profile need not be looked for again."""

FAMILIES: tuple[Family, ...] = (
    *claude.FAMILIES,
    *openai.FAMILIES,
    *deepseek.FAMILIES,
    *google.FAMILIES,
    *qwen.FAMILIES,
    *glm.FAMILIES,
    *kimi.FAMILIES,
    *mistral.FAMILIES,
    *others.FAMILIES,
)


class Profiles:
    """The profiles of one route's models: what is known of a family, and what the route says instead.

    Args:
        dialect: the dialect's name.
        capabilities: fields of Profile in camel case.
        price: fields of Price.
        thinking: {effort, budget}.

    Raises:
        ConfigurationError: an unknown key or a wrong value; the message names it.
    """

    def __init__(
        self,
        dialect: str = "openai",
        capabilities: Mapping[str, Any] | None = None,
        price: Mapping[str, Any] | None = None,
        thinking: Mapping[str, Any] | None = None,
        families: tuple[Family, ...] = FAMILIES,
    ) -> None:
        self._dialect = dialect
        self._capabilities = capabilities
        self._price = price
        self._thinking = thinking or {}
        self._families = sorted(families, key=lambda family: len(family.prefix), reverse=True)
        self._made: dict[str, Profile] = {}
        self._found = lru_cache(REMEMBERED)(self._find)
        self.of("")

    def of(self, model: str) -> Profile:
        """Return the profile of a model."""
        return self._found(model)

    def _find(self, model: str) -> Profile:
        name = model.rpartition("/")[2].lower()
        family = next((each for each in self._families if name.startswith(each.prefix)), Family(""))
        made = self._made.get(family.prefix)
        if made is None:
            made = self._made[family.prefix] = self._make(family)
        return made

    def _make(self, family: Family) -> Profile:
        known = DIALECTS.get(self._dialect, Profile())
        known = msgspec.structs.replace(known, **family.facts, **family.told.get(self._dialect, {}))
        return with_thinking(overridden(known, self._capabilities, self._price), self._thinking)
