"""Rows of families: each is valid, the longest prefix wins, and requests are what the providers' documents say."""

import json
from typing import Any

import msgspec
import pytest

from talaria.core.errors import CapabilityMissing
from talaria.core.messages import Text, UserMessage
from talaria.core.usage import Usage
from talaria.models.accounting import priced
from talaria.models.families import FAMILIES, Family, Profiles
from talaria.models.negotiation import negotiate
from talaria.models.openai.dialect import OpenAiDialect
from talaria.ports.model import Connection, ModelRequest, Prompt, ToolSpec
from talaria.ports.profile import Profile

FINAL = ToolSpec("final_answer", "Answer.", {"type": "object", "properties": {"a": {"type": "string"}}})
BASE = {"model", "messages", "stream", "stream_options", "tools"}


def planned(model: str, dialect: str = "openai", *, tools: bool = True, **fields: Any) -> tuple[dict[str, Any], int]:
    """What is sent beside the messages, and how many things were done without."""
    profile = Profiles(dialect).of(model)
    prompt = Prompt("", [FINAL] if tools else (), [UserMessage((Text("go"),))])
    request, left = negotiate(ModelRequest(model, prompt, **fields), profile)
    call = OpenAiDialect().request(request, Connection("https://x.example/v1", model, "i", profile=profile))
    body = json.loads(call.body)
    assert all(model in sentence for sentence in left)
    return {name: value for name, value in body.items() if name not in BASE}, len(left)


@pytest.mark.parametrize("family", FAMILIES, ids=[family.prefix for family in FAMILIES])
@pytest.mark.parametrize("dialect", ["openai", "responses"])
def test_each_row_is_a_profile(family: Family, dialect: str) -> None:
    profile = Profiles(dialect).of(family.prefix)
    assert family.prefix == family.prefix.lower()
    assert msgspec.convert(msgspec.to_builtins(profile), Profile) == profile
    for members in (profile.thinking_on, profile.thinking_off, profile.unsigned_call):
        assert "$" not in members
        assert not members or isinstance(json.loads(members), dict)
    if profile.sampling == "without_thinking" or profile.forced_choice == "without_thinking":
        assert profile.reasoning in {"optional", "by_default"}


def test_there_is_one_row_for_a_prefix() -> None:
    assert len({family.prefix for family in FAMILIES}) == len(FAMILIES)


@pytest.mark.parametrize(
    ("model", "window", "output_price"),
    [
        ("gpt-5.6-luna-2026-08-01", 1_050_000, 1.2),
        ("gpt-5.6", 1_050_000, 20),
        ("openai/GPT-5.6-Terra", 1_050_000, 12),
        ("gpt-4o-mini", 128_000, 0.6),
        ("MiniMax-M3.1-Flash", 1_000_000, 0.6),
        ("z-ai/glm-5.3", 1_000_000, 4.4),
    ],
)
def test_the_longest_prefix_of_the_last_part_of_a_name_wins(model: str, window: int, output_price: float) -> None:
    profile = Profiles().of(model)
    assert profile.price is not None
    assert (profile.window, profile.price.output) == (window, output_price)


def test_a_model_that_nobody_knows_thinks_by_effort() -> None:
    for thinking, effort in (("enabled", "medium"), ("disabled", "none"), (None, None)):
        sent, left = planned("some-model", thinking=thinking)
        assert (sent.get("reasoning_effort"), left) == (effort, 0)
    high = Profiles("openai", thinking={"effort": "high"}).of("some-model")
    assert high.thinking_on == '{"reasoning_effort":"high"}'


def test_a_routes_effort_comes_before_that_of_a_row() -> None:
    assert json.loads(Profiles().of("kimi-k3").thinking_on) == {"reasoning_effort": "max"}
    assert json.loads(Profiles(thinking={"effort": "low"}).of("kimi-k3").thinking_on) == {"reasoning_effort": "low"}


@pytest.mark.parametrize(
    ("model", "thinking", "sent", "left"),
    [
        ("gpt-4o-mini", None, {"tool_choice": "required", "temperature": 0.2}, 0),
        ("gpt-4o-mini", "disabled", {"tool_choice": "required", "temperature": 0.2}, 0),
        ("kimi-k2.6", "disabled", {"tool_choice": "required", "thinking": {"type": "disabled"}}, 1),
        ("kimi-k2.6", None, {}, 2),
        ("kimi-k2.7-code", "disabled", {}, 3),
        ("kimi-k3", None, {"tool_choice": "required"}, 1),
        (
            "deepseek-v4-pro",
            "disabled",
            {"tool_choice": "required", "temperature": 0.2, "thinking": {"type": "disabled"}},
            0,
        ),
        ("deepseek-v4-pro", None, {}, 2),
        ("deepseek-v4-pro", "enabled", {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}, 2),
        ("qwen3.7-plus", None, {"temperature": 0.2}, 1),
        ("qwen3.7-plus", "enabled", {"temperature": 0.2, "enable_thinking": True, "thinking_budget": 8000}, 1),
        ("qwen3.8-max", "disabled", {"temperature": 0.2, "tool_choice": "required", "reasoning_effort": "none"}, 0),
        ("glm-5.3", "disabled", {"temperature": 0.2, "reasoning_effort": "low"}, 2),
        ("gemini-3.8-flash", "disabled", {"tool_choice": "required", "reasoning_effort": "low"}, 2),
        ("mistral-large-2512", "enabled", {"tool_choice": "required", "temperature": 0.2}, 1),
        ("grok-4.20-0309", "disabled", {"tool_choice": "required", "temperature": 0.2}, 1),
    ],
)
def test_forcing_thinking_and_sampling_are_asked_as_far_as_they_are_taken(
    model: str, thinking: Any, sent: dict[str, Any], left: int
) -> None:
    assert planned(model, tool_choice="required", temperature=0.2, thinking=thinking) == (sent, left)


@pytest.mark.parametrize("thinking", ["enabled", "disabled", None])
def test_a_model_that_calls_tools_only_unthinking_does_not_think(thinking: Any) -> None:
    assert planned("gpt-6-sol", thinking=thinking) == ({"reasoning_effort": "none"}, int(thinking == "enabled"))
    without = planned("gpt-6-sol", tools=False, thinking="enabled", max_tokens=9)
    assert without == ({"reasoning_effort": "medium", "max_completion_tokens": 9}, 0)


def test_a_model_that_does_not_think_of_itself_is_not_told_to_stop() -> None:
    assert planned("gpt-5.4") == ({}, 0)


def test_a_model_that_always_thinks_has_no_tools_where_it_needs_another_dialect() -> None:
    with pytest.raises(CapabilityMissing, match="another model or dialect"):
        planned("gpt-6.2-sol")
    assert Profiles("responses").of("gpt-6.2-sol").tools


def test_every_name_asked_in_deepseeks_dialect_is_deepseeks() -> None:
    for model in ("deepseek-v4-pro", "deepseek-next"):
        assert planned(model, "deepseek", thinking="disabled", tool_choice="required") == (
            {"tool_choice": "required", "thinking": {"type": "disabled"}},
            0,
        )
        assert planned(model, "deepseek", tool_choice="required") == ({}, 1)


def test_cached_tokens_cost_what_the_row_says() -> None:
    usage = priced(Usage(1_000_000, 100_000, cached_tokens=500_000), Profiles().of("deepseek-flash").price)
    assert usage.cost == pytest.approx(0.15 + 0.003 + 0.12)
