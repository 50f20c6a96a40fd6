"""The policy at work in runs: what rules deny does not run, what they ask about waits, all of it on record."""

from typing import Any

import pytest

from talaria import Agent, AgentRequest, Principal, Reply, Session, tool
from talaria.core.messages import ToolMessage
from talaria.journal.entries import Audited, TurnStarted
from talaria.runtime.offers import tools as offered
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.own import own
from tests.runtime.tools import Shop
from tests.runtime.world import ME, World, end_of, soon, told, world


def rules(*said: dict[str, Any]) -> dict[str, Any]:
    return {"rules": list(said)}


@tool(permission="admin")
async def close(day: str = "today") -> str:
    """Close the shop."""
    return f"closed {day}"


async def audited(here: World) -> list[tuple[str, str, str, str]]:
    entries = [entry for entry in await here.entries() if isinstance(entry, Audited)]
    return [(each.action, each.outcome, each.subject, each.rule) for each in entries]


def results(model: ScriptedModel) -> list[str]:
    """The results that the model's last prompt has."""
    return [message.text for message in model.prompts[-1] if isinstance(message, ToolMessage)]


async def test_what_a_rule_denies_does_not_run_and_the_model_is_told(store: str) -> None:
    shop, model = Shop(), ScriptedModel(Call("sell", {"what": "gun"}), Call("sell", {"what": "hat"}), Say("Sold."))
    policy = rules({"deny": "sell", "when": "args.what == 'gun'"})
    async with world(model, tools=shop.tools, store=store, policy=policy) as here:
        assert end_of(await here.ask()) == ("finish", "stop")
        assert await audited(here) == [("tool.permission", "deny", "sell", "policy.rules[0]")]
    assert shop.done == ["sell hat"]
    why = "a rule denies 'sell' with these arguments; with others it may be allowed"
    assert results(model) == [f"Not run: {why}. Do without, or tell the user.", "sold hat"]


async def test_a_condition_that_cannot_be_evaluated_denies() -> None:
    shop, model = Shop(), ScriptedModel(Call("look", {"what": "hat"}), Say("On."))
    async with world(model, tools=shop.tools, policy=rules({"deny": "look", "when": "args.depth > 3"})) as here:
        await here.ask()
        (entry,) = [each for each in await here.entries() if isinstance(each, Audited)]
    assert shop.done == []
    assert "could not be checked with these arguments, which counts as denied" in results(model)[0]
    assert "depth" in entry.detail


async def test_what_is_denied_whatever_the_arguments_is_neither_offered_nor_listed() -> None:
    shop = Shop()
    model = ScriptedModel(Say(calls=(Call("sell", {"what": "hat"}), Call("close"), Call("sel"))), Say("On."))
    async with world(model, tools=[*shop.tools, close], policy=rules({"deny": "sell"})) as here:
        await here.ask()
        assert {"sell", "close"}.isdisjoint(
            each["name"] for each in offered(here.parts.kit, ME, sandboxes=False)["tools"]
        )
        assert {"sell", "close"}.isdisjoint(spec.name for spec in model.requests[0].prompt.tools)
        assert await audited(here) == [
            ("tool.permission", "deny", "sell", "policy.rules[0]"),
            ("tool.permission", "deny", "close", ""),
        ]
    assert shop.done == []
    denied, unpermitted, unknown = results(model)
    assert denied == "Not run: a rule denies 'sell' to this user. Do without, or tell the user."
    assert unpermitted.startswith("Not run: 'close' takes the role 'admin', which this user has not.")
    assert "'sell'" not in unknown


async def test_an_allow_rule_stands_for_the_role_that_a_tool_takes_and_for_no_approval() -> None:
    model = ScriptedModel(Call("close"), Call("refund"))
    policy = rules({"allow": "close, refund"})
    async with world(model, tools=[*Shop().tools, close], policy=policy) as here:
        run_id = await here.send()
        await here.question(run_id)
        assert await audited(here) == [("tool.permission", "allow", "close", "policy.rules[0]")]


async def test_what_a_rule_asks_about_waits_for_a_person_once(store: str) -> None:
    shop, model = Shop(), ScriptedModel(Call("sell", {"what": "hat"}), Say("Sold."))
    async with world(model, tools=shop.tools, store=store, policy=rules({"ask": "sell"})) as here:
        run_id = await here.send()
        event = await here.until(run_id, "approval_request")
        assert event.reason == "policy"
        await here.stands(run_id, "waiting_approval")
        await here.decide(str(event.data))
        assert end_of(await here.events(run_id)) == ("finish", "stop")
        assert await audited(here) == [("tool.permission", "ask", "sell", "policy.rules[0]")]
    assert shop.done == ["sell hat"]


async def test_nobody_can_approve_what_a_rule_denies() -> None:
    shop, model = Shop(), ScriptedModel(Call("refund", {"amount": 7}), Say("Then not."))
    async with world(model, tools=shop.tools, policy=rules({"deny": "refund", "when": "args.amount > 100"})) as here:
        run_id = await here.send()
        await here.decide(await here.question(run_id), arguments={"amount": 500})
        assert "tool_result refund: Not run: a rule denies 'refund' with these arguments" in "\n".join(
            told(await here.events(run_id))
        )
        assert await audited(here) == [("tool.permission", "deny", "refund", "policy.rules[0]")]
    assert shop.done == []


async def test_remembered_consent_spares_a_rule_that_always_asks_and_none_about_arguments() -> None:
    shop = Shop()
    model = ScriptedModel(*(Call("sell", {"what": what}) for what in ("hat", "coat", "gun")), Say("Sold."))
    policy = rules({"ask": "sell"}, {"ask": "sell", "when": "args.what == 'gun'"})
    async with world(model, tools=shop.tools, policy=policy) as here:
        run_id = await here.send()
        await here.decide(await here.question(run_id), remember=True)
        await soon(lambda: shop.done == ["sell hat", "sell coat"], "the coat being sold unasked")
        await here.stands(run_id, "waiting_approval")
        (open_,) = await here.parts.lookup.approvals(ME)
        assert open_["toolCalls"][0]["arguments"] == '{"what":"gun"}'


async def test_the_configuration_asks_for_groups_and_patterns() -> None:
    @tool(group="stock")
    async def burn() -> str:
        """Burn it all."""
        return "burnt"

    model = ScriptedModel(Say(calls=(Call("burn"), Call("slow_sell"), Call("look"))))
    approval = {"requiredTools": ["group:stock", "slow_*"]}
    async with world(model, tools=[*Shop().tools, burn], approval=approval) as here:
        await here.stands(await here.send(), "waiting_approval")
        asked = [(each["toolCalls"][0]["name"], each["reason"]) for each in await here.parts.lookup.approvals(ME)]
        listed = {
            each["name"] for each in offered(here.parts.kit, ME, sandboxes=False)["tools"] if each.get("approval")
        }
    assert sorted(asked) == [("burn", "configured"), ("slow_sell", "configured")]
    assert listed == {"burn", "slow_look", "slow_sell", "refund"}


async def test_rules_know_the_principal_and_the_agent() -> None:
    async def body(request: AgentRequest, session: Session) -> Reply:
        mine = await request.tools.call("sell", what="hat")
        asked = await request.models.ask("Sell it.", tools=["sell", "look"])
        return Reply(f"{mine.is_error}: {mine.text}; {asked.text}")

    shop, model = Shop(), ScriptedModel(Say("No."))
    policy = rules({"deny": "sell", "when": "agent == 'own' && principal.user == 'anonymous'"}, {"deny": "look"})
    async with world(model, tools=shop.tools, agents=[own(body)], policy=policy) as here:
        events = await here.ask(agent="own")
        assert await audited(here) == [("tool.permission", "deny", "sell", "policy.rules[0]")]
    assert [spec.name for spec in model.requests[0].prompt.tools] == ["sell"]
    assert "True: Not run: a rule denies 'sell'" in str(events)
    assert shop.done == []


BOSS = Principal("default", "anonymous", ("approval:bypass",))


async def test_with_the_role_a_request_does_without_approvals_and_every_call_is_on_record(store: str) -> None:
    shop = Shop()
    calls = (Call("refund", {"amount": 7}), Call("sell", {"what": "hat"}), Call("look"))
    model = ScriptedModel(Say(calls=calls), Say("Done."))
    policy = rules({"ask": "sell"})
    async with world(model, tools=shop.tools, store=store, policy=policy) as here:
        run_id = await here.send(principal=BOSS, bypass_approval=True)
        assert end_of(await here.events(run_id)) == ("finish", "stop")
        assert sorted(await audited(here)) == [
            ("hitl.bypassed", "bypassed", "refund", ""),
            ("hitl.bypassed", "bypassed", "sell", "policy.rules[0]"),
        ]
        assert [each.bypass for each in await here.entries() if isinstance(each, TurnStarted)] == [True]
    assert sorted(shop.done) == ["look shelf", "refund 7", "sell hat"]


async def test_a_bypass_goes_past_no_rule_that_denies() -> None:
    shop, model = Shop(), ScriptedModel(Call("refund", {"amount": 7}), Say("Done."))
    async with world(model, tools=shop.tools, policy=rules({"deny": "refund"})) as here:
        await here.events(await here.send(principal=BOSS, bypass_approval=True))
        assert await audited(here) == [("tool.permission", "deny", "refund", "policy.rules[0]")]
    assert shop.done == []


async def test_without_the_role_a_bypass_is_ignored_and_on_record(capsys: pytest.CaptureFixture[str]) -> None:
    shop = Shop()
    async with world(ScriptedModel(Call("refund")), tools=shop.tools) as here:
        run_id = await here.send(bypass_approval=True)
        await here.question(run_id)
        assert await audited(here) == [("hitl.bypassed", "refused", "", "")]
    assert shop.done == []
    assert "bypass_ignored" in capsys.readouterr().out


async def test_agents_given_at_run_time_are_under_the_rules() -> None:
    @tool
    async def erase(path: str) -> str:
        """Erase a file."""
        raise AssertionError(path)

    model = ScriptedModel(Call("erase", {"path": "/"}), Say("No."))
    async with world(model, tools=Shop().tools, policy=rules({"deny": "*", "when": "tool.name != 'look'"})) as here:
        await here.runtime.run(Agent("late", tools=[erase]), "Go", session="s-1")
        assert await audited(here) == [("tool.permission", "deny", "erase", "policy.rules[0]")]


@pytest.mark.parametrize(
    ("arguments", "ran"), [({}, []), ({"amount": 5}, [5.0]), ({"amount": None}, []), ({"amount": 101}, [])]
)
async def test_a_condition_sees_what_a_call_leaves_out(arguments: dict[str, Any], ran: list[float]) -> None:
    paid: list[float] = []

    @tool
    async def pay(amount: float = 500, note: str | None = None) -> str:
        """Pay."""
        paid.append(amount)
        return f"paid {note}"

    policy = rules(
        {"deny": "pay", "when": "has(args.amount) && args.amount > 100"},
        {"deny": "pay", "when": "has(args.note) && args.note.startsWith('x')"},
    )
    async with world(ScriptedModel(Call("pay", arguments), Say("On.")), tools=[pay], policy=policy) as here:
        await here.ask()
    assert paid == ran
