"""The mapped dialect keeps the contract, with a protocol whose request is the one of nobody in particular."""

from typing import Any

from talaria.core.errors import ContextOverflow, ModelRejected, ModelUnavailable
from talaria.core.usage import Usage
from talaria.models.mapped.dialect import MappedDialect
from talaria.models.mapped.mapping import ProtocolMapping
from talaria.testing.dialect_contract import Broken, DialectContract, Refused, Reply
from tests.models.mapped_protocols import HOUSE, events

OSLO, ROME = {"city": "Oslo"}, {"city": "Rome 罗马", "days": [1, 2]}
END = b"data: [END]\n\n"


def said(**data: Any) -> dict[str, Any]:
    return {"code": 0, "msg": "ok", "data": data}


def tools(*calls: tuple[str, str, Any]) -> dict[str, Any]:
    return said(tools=[{"key": key, "tool": name, "input": given} for key, name, given in calls])


class TestMappedDialect(DialectContract):
    replies = (
        Reply(
            "text",
            events(said(answer="Grüße, "), said(answer="世界 😀."), said(why="DONE"), said(cost={"in": 50, "out": 20}))
            + END,
            "Grüße, 世界 😀.",
            usage=Usage(50, 20),
        ),
        Reply("reasoning", events(said(thought="Six by seven."), said(answer="42")) + END, "42", "Six by seven."),
        Reply(
            "call",
            events(said(answer="I look."), tools(("k1", "weather", OSLO)), said(why="TOOL")) + END,
            "I look.",
            calls=(("k1", "weather", OSLO),),
        ),
        Reply(
            "calls",
            events(tools(("k1", "weather", OSLO), ("k2", "weather", ROME)), tools(("k3", "now", {})), said(why="TOOL"))
            + END,
            calls=(("k1", "weather", OSLO), ("k2", "weather", ROME), ("k3", "now", {})),
        ),
        Reply("length", events(said(answer="Once upon"), said(why="FULL")) + END, "Once upon", finish="length"),
    )
    broken = (
        Broken("busy", events(said(answer="Once"), {"code": 503, "msg": "hot"}), ModelUnavailable, "hot", "Once"),
        Broken("refused", events(said(answer="Once"), {"code": 400, "msg": "bad"}), ModelRejected, "bad", "Once"),
    )
    refused = (Refused(400, b'{"message":"maximum context length is 10"}', ContextOverflow, "maximum context length"),)

    def make(self) -> MappedDialect:
        return MappedDialect(ProtocolMapping.model_validate(HOUSE.mapping))
