"""Rounds: calls that a reply brought go back with their results, under ids that match."""

# ruff: noqa: D102 - the names of tests are their docstrings

from typing import Any

from talaria.core.messages import AssistantMessage, Text, ToolCall, ToolMessage, UserMessage
from talaria.ports.model import ModelRequest, Prompt
from talaria.testing.dialect_contract.cases import KEY, MODEL, Reply, decode
from talaria.testing.dialect_contract.requests import RequestContract, dicts, strings

IDS = ("id", "call_id", "tool_call_id", "tool_use_id")
"""The fields that tie a result to its call."""


class RoundContract(RequestContract):
    """`Dialect.request`, and what it makes of what `Dialect.decoder` gave."""

    def test_an_answer_and_its_results_go_back(self, a_reply: Reply) -> None:
        """All that was said, and every call with the id that the provider gave it and its result."""
        dialect, connection = self.make(), self.connect(KEY)
        prompt = Prompt("", (), [UserMessage((Text("Go"),))])
        request = ModelRequest(MODEL, prompt)
        dialect.request(request, connection)
        _, answer = decode(dialect, self.connect(KEY), [a_reply.body])
        prompt.messages.append(answer.message)
        for call in answer.message.calls:
            prompt.messages.append(ToolMessage(call.id, call.name, f"result of {call.id}"))
        prompt.messages.append(UserMessage((Text("Go on"),)))
        body = self.body(request)
        assert a_reply.text in "\n".join(strings(body))
        for id_, name, _ in a_reply.calls:
            assert id_ in ids_around(body, name)
            assert ids_around(body, f"result of {id_}") == {id_}

    def test_ids_that_a_provider_gave_twice_or_not_at_all_are_told_apart(self) -> None:
        calls = (
            ToolCall("ours-1", "one", "{}", "same"),
            ToolCall("ours-2", "two", "{}", "same"),
            ToolCall("ours-3", "three", "{}", ""),
        )
        results = [ToolMessage(call.id, call.name, f"result {call.name}") for call in calls]
        body = self.body(
            ModelRequest(MODEL, Prompt("", (), [UserMessage((Text("Go"),)), AssistantMessage(calls), *results]))
        )
        pairs = [(ids_around(body, call.name), ids_around(body, f"result {call.name}")) for call in calls]
        assert all(asked & answered for asked, answered in pairs), "a result has another id than its call"
        answered = [id_ for _, ids in pairs for id_ in ids]
        assert len(set(answered)) == len(calls)


def ids_around(body: Any, text: str) -> set[str]:
    """The ids in the innermost objects of a body that have ids and this very text."""
    around = [each for each in dicts(body) if text in strings(each) and any(name in each for name in IDS)]
    return {str(each[name]) for each in around for name in IDS if name in each}
