"""What a request wants and a model does not take."""

from typing import Any

import msgspec
import pytest

from talaria.core.errors import CapabilityMissing
from talaria.core.messages import Image, Text, ToolMessage, UserMessage
from talaria.models.negotiation import negotiate
from talaria.ports.model import ModelRequest, Prompt, ToolSpec
from talaria.ports.profile import Profile

SEARCH = ToolSpec("search", "Search.", {"type": "object"})


def asked(**fields: Any) -> ModelRequest:
    return ModelRequest("m-1", Prompt("", fields.pop("tools", ()), fields.pop("messages", ())), **fields)


def test_a_full_model_gets_the_request_as_it_is() -> None:
    request = asked(tools=(SEARCH,), thinking="enabled", temperature=0.2, max_tokens=9, tool_choice="required")
    assert negotiate(request, Profile()) == (request, [])


@pytest.mark.parametrize(
    ("fields", "profile", "changed", "said"),
    [
        ({"thinking": "enabled"}, Profile(reasoning="never"), {"thinking": None}, "does not think"),
        ({"thinking": "disabled"}, Profile(reasoning="never"), {"thinking": None}, ""),
        ({"thinking": "disabled"}, Profile(reasoning="always", thinking_off='{"e":1}'), {}, "asked to think little"),
        ({"thinking": "disabled"}, Profile(reasoning="always"), {}, "cannot be turned off"),
        ({"temperature": 0.2}, Profile(sampling="never"), {"temperature": None}, "takes no temperature;"),
        (
            {"temperature": 0.2, "thinking": "enabled"},
            Profile(sampling="without_thinking"),
            {"temperature": None},
            "no temperature while it thinks",
        ),
        ({"temperature": 0.2, "thinking": "disabled"}, Profile(sampling="without_thinking"), {}, ""),
        (
            {"temperature": 0.2},
            Profile(sampling="without_thinking", reasoning="always"),
            {"temperature": None},
            "while it thinks",
        ),
        ({"tool_choice": "required"}, Profile(forced_choice="never"), {"tool_choice": "auto"}, "cannot be made to"),
        ({"max_tokens": 900}, Profile(max_output=500), {"max_tokens": 500}, "500 tokens at most, not 900"),
        (
            {"messages": (UserMessage((Image("image/png", "AA"),)),)},
            Profile(vision=False),
            {},
            "sees no images",
        ),
        (
            {
                "messages": (
                    UserMessage((Text("go"),)),
                    ToolMessage("a", "look", "", images=(Image("image/png", "AA"),)),
                )
            },
            Profile(vision=False),
            {},
            "sees no images",
        ),
    ],
)
def test_what_a_model_does_not_take_is_done_without_and_said(
    fields: dict[str, Any], profile: Profile, changed: dict[str, Any], said: str
) -> None:
    request = asked(**fields)
    got, sentences = negotiate(request, profile)
    assert got == msgspec.structs.replace(request, **changed)
    assert len(sentences) == bool(said)
    for sentence in sentences:
        assert "m-1" in sentence
        assert said in sentence


@pytest.mark.parametrize(
    ("fields", "profile"),
    [
        ({"tools": (SEARCH,)}, Profile(tools=False)),
        ({"output_schema": {"type": "object"}}, Profile(json_schema=False)),
    ],
)
def test_what_the_request_is_for_is_not_done_without(fields: dict[str, Any], profile: Profile) -> None:
    with pytest.raises(CapabilityMissing, match="m-1"):
        negotiate(asked(**fields), profile)
