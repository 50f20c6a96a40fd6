"""Profiles: what a route may say about its models."""

import pytest

from talaria.core.errors import ConfigurationError
from talaria.models.families import Profiles
from talaria.models.profile import overridden
from talaria.ports.profile import Price, Profile


def test_a_route_overrides_what_it_names() -> None:
    capabilities = {"emptyContent": "omit", "thinkingOff": {"enable_thinking": False}}
    profile = Profiles("openai", capabilities, {"input": 0.4, "output": 1.2}, {"effort": "high"}).of("any")
    assert profile == Profile(
        empty_content="omit",
        thinking_on='{"reasoning_effort":"high"}',
        thinking_off='{"enable_thinking":false}',
        price=Price(0.4, 1.2),
    )
    assert overridden(Profile(price=Price(1.0)), {"vision": False}) == Profile(vision=False, price=Price(1.0))


@pytest.mark.parametrize(
    ("capabilities", "price", "words"),
    [
        ({"visions": True}, None, "no key 'visions'"),
        ({"emptyContent": "nil"}, None, "empty_content"),
        ({}, {"input": "x"}, "price"),
    ],
)
def test_what_is_wrong_is_named(capabilities: dict[str, object], price: dict[str, object] | None, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        overridden(Profile(), capabilities, price)
