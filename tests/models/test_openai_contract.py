"""The chat-completions dialect keeps the contract."""

import json
from typing import Any

from talaria.core.errors import ContextOverflow, ModelRejected, ModelUnavailable
from talaria.core.usage import Usage
from talaria.models.openai.dialect import OpenAiDialect
from talaria.testing.dialect_contract import Broken, DialectContract, Refused, Reply
from talaria.testing.steps import Step, chunks

OSLO, ROME = {"city": "Oslo"}, {"city": "Rome 罗马", "days": [1, 2]}


def wire(step: Step) -> bytes:
    return b"".join(chunks(step, "m", 1))


def failing(text: str, error: dict[str, Any]) -> bytes:
    said = b"".join(chunks(Step(text=text), "m", 1)[:2])
    return said + b"data: %s\n\n" % json.dumps({"error": error}).encode()


class TestOpenAiDialect(DialectContract):
    replies = (
        Reply("text", wire(Step(text="Grüße, 世界 😀.")), "Grüße, 世界 😀.", usage=Usage(50, 20)),
        Reply("reasoning", wire(Step(text="42", reasoning="Six by seven.")), "42", "Six by seven."),
        Reply(
            "call",
            wire(Step(text="I look.", calls=(("weather", OSLO),))),
            "I look.",
            calls=(("call_1_0", "weather", OSLO),),
        ),
        Reply(
            "calls",
            wire(Step(calls=(("weather", OSLO), ("weather", ROME), ("now", {})), usage=None)),
            calls=(("call_1_0", "weather", OSLO), ("call_1_1", "weather", ROME), ("call_1_2", "now", {})),
        ),
        Reply("length", wire(Step(text="Once upon", finish="length")), "Once upon", finish="length"),
        Reply("filtered", wire(Step(text="Once", finish="content_filter")), "Once", finish="content_filter"),
    )
    broken = (
        Broken(
            "busy", failing("Once", {"type": "overloaded_error", "message": "hot"}), ModelUnavailable, "hot", "Once"
        ),
        Broken("refused", failing("Once", {"code": 400, "message": "bad"}), ModelRejected, "bad", "Once"),
    )
    refused = (
        Refused(
            400, b'{"error":{"message":"maximum context length is 10"}}', ContextOverflow, "maximum context length"
        ),
        Refused(429, b'{"error":{"type":"insufficient_quota","message":"pay"}}', ModelRejected, "pay"),
    )

    def make(self) -> OpenAiDialect:
        return OpenAiDialect()
