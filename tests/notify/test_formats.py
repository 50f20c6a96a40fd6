"""The five formats: golden requests, signatures by independent code, limits, and text that stays text."""

import base64
import hashlib
import hmac
from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
from inline_snapshot import snapshot

from talaria.core.usage import Usage
from talaria.notify.formats import FORMATS
from talaria.notify.notice import LONGEST, Asked, Event, Notice, NoticeRow, cut
from talaria.notify.post import Post
from talaria.notify.target import Target

AT = 1_800_000_000_000
NOW = AT + 1_500
LINK = "https://agents.example.com/ai-api/decide/TOKEN"
ASKED = Asked("call_1", "refund", '{"order":"17","amount":5}', AT + 300_000)


def row(event: Event, **fields: Any) -> NoticeRow:
    return NoticeRow(event, AT, "acme/ann/-/s-1", "run_1", "clerk", **fields)


ASK = Notice("msg_1", row("approval_request", request_id="ask_1"), ASKED, LINK)
END = Notice("msg_2", row("finish", reason="stop", usage=Usage(1200, 34)))
FAULT = Notice("msg_3", row("error", reason="model_unavailable", message="the model did\nnot answer"))


def target(kind: str, secret: str = "shh-shh") -> Target:
    return Target(0, frozenset(["finish"]), kind, "https://chat.example.com/send?key=k", secret)


def post(kind: str, notice: Notice, secret: str = "shh-shh") -> Post:
    return FORMATS[kind].make(target(kind, secret), notice, NOW)


def document(made: Post) -> dict[str, Any]:
    return msgspec.json.decode(made.body)


def mac(key: str, text: str) -> bytes:
    return base64.b64encode(hmac.new(key.encode(), text.encode(), hashlib.sha256).digest())


def test_json_golden() -> None:
    made = post("json", ASK)
    assert made.url == "https://chat.example.com/send?key=k"
    assert dict(made.headers) == snapshot(
        {
            "Content-Type": "application/json; charset=utf-8",
            "webhook-id": "msg_1",
            "webhook-timestamp": "1800000001",
            "webhook-signature": "v1,/e7AYn7YVcqHAytMHombwJPZuUfzu516yOimX/LaxeU=",
        }
    )
    assert document(made) == snapshot(
        {
            "type": "approval_request",
            "timestamp": "2027-01-15T08:00:00.000Z",
            "data": {
                "runId": "run_1",
                "sessionId": "s-1",
                "userId": "ann",
                "tenant": "acme",
                "agent": "clerk",
                "requestId": "ask_1",
                "toolCalls": [{"id": "call_1", "name": "refund", "arguments": '{"order":"17","amount":5}'}],
                "expiresAt": "2027-01-15T08:05:00.000Z",
                "url": "https://agents.example.com/ai-api/decide/TOKEN",
            },
        }
    )
    assert document(post("json", FAULT)) == snapshot(
        {
            "type": "error",
            "timestamp": "2027-01-15T08:00:00.000Z",
            "data": {
                "runId": "run_1",
                "sessionId": "s-1",
                "userId": "ann",
                "tenant": "acme",
                "agent": "clerk",
                "reason": "model_unavailable",
                "usage": {"inputTokens": 0, "outputTokens": 0},
                "message": """\
the model did
not answer\
""",
            },
        }
    )


def test_json_takes_the_example_of_the_specification() -> None:
    """The vector of the reference libraries: secret, id, time and body give this signature."""
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = b'msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}'
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    assert expected == b"g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    made = post("json", ASK, secret)
    headers = dict(made.headers)
    content = f"msg_1.{headers['webhook-timestamp']}.".encode() + made.body
    assert (
        headers["webhook-signature"]
        == f"v1,{base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()}"
    )


def test_feishu_golden() -> None:
    made = document(post("feishu", ASK))
    assert made.pop("timestamp") == "1800000001"
    assert made.pop("sign").encode() == mac("1800000001\nshh-shh", "")
    assert made == snapshot(
        {
            "msg_type": "interactive",
            "card": {
                "config": {"wide_screen_mode": True},
                "header": {
                    "title": {"tag": "plain_text", "content": "待审批 Approval needed: refund"},
                    "template": "orange",
                },
                "elements": [
                    {
                        "tag": "div",
                        "text": {
                            "tag": "plain_text",
                            "content": """\
工具 Tool: refund
参数 Arguments: {"order":"17","amount":5}
用户 User: ann
智能体 Agent: clerk
运行 Run: run_1
截止 Expires: 2027-01-15 08:05:00 UTC\
""",
                        },
                    },
                    {
                        "tag": "action",
                        "actions": [
                            {
                                "tag": "button",
                                "text": {"tag": "plain_text", "content": "去审批 Decide"},
                                "type": "primary",
                                "url": "https://agents.example.com/ai-api/decide/TOKEN",
                            }
                        ],
                    },
                ],
            },
        }
    )
    assert "sign" not in document(post("feishu", END, ""))


def test_dingtalk_golden() -> None:
    made = post("dingtalk", ASK)
    query = parse_qs(urlsplit(made.url).query)
    assert query == {"key": ["k"], "timestamp": [str(NOW)], "sign": [mac("shh-shh", f"{NOW}\nshh-shh").decode()]}
    assert document(made) == snapshot(
        {
            "msgtype": "actionCard",
            "actionCard": {
                "title": "待审批 Approval needed: refund",
                "text": """\
### 待审批 Approval needed: refund

**工具 Tool** refund

**参数 Arguments** {"order":"17","amount":5}

**用户 User** ann

**智能体 Agent** clerk

**运行 Run** run_1

**截止 Expires** 2027-01-15 08:05:00 UTC\
""",
                "singleTitle": "去审批 Decide",
                "singleURL": "https://agents.example.com/ai-api/decide/TOKEN",
            },
        }
    )
    assert document(post("dingtalk", END, "")) == snapshot(
        {
            "msgtype": "markdown",
            "markdown": {
                "title": "运行结束 Run finished",
                "text": """\
### 运行结束 Run finished

**用户 User** ann

**智能体 Agent** clerk

**运行 Run** run_1

**原因 Reason** stop

**用量 Tokens** 1200 + 34\
""",
            },
        }
    )


def test_wecom_golden() -> None:
    made = post("wecom", ASK, "")
    assert made.url == "https://chat.example.com/send?key=k"
    assert document(made) == snapshot(
        {
            "msgtype": "markdown",
            "markdown": {
                "content": """\
### 待审批 Approval needed: refund
> **工具 Tool** refund
> **参数 Arguments** {"order":"17","amount":5}
> **用户 User** ann
> **智能体 Agent** clerk
> **运行 Run** run_1
> **截止 Expires** 2027-01-15 08:05:00 UTC
[去审批 Decide](https://agents.example.com/ai-api/decide/TOKEN)\
"""
            },
        }
    )
    assert document(post("wecom", FAULT, "")) == snapshot(
        {
            "msgtype": "markdown",
            "markdown": {
                "content": """\
### 运行失败 Run failed
> **用户 User** ann
> **智能体 Agent** clerk
> **运行 Run** run_1
> **原因 Reason** model_unavailable
> **信息 Message** the model did not answer
> **用量 Tokens** 0 + 0\
"""
            },
        }
    )


def test_slack_golden() -> None:
    assert document(post("slack", ASK, "")) == snapshot(
        {
            "text": "Approval needed: refund",
            "blocks": [
                {"type": "header", "text": {"type": "plain_text", "text": "Approval needed: refund", "emoji": False}},
                {
                    "type": "section",
                    "text": {
                        "type": "plain_text",
                        "text": """\
Tool: refund
Arguments: {"order":"17","amount":5}
User: ann
Agent: clerk
Run: run_1
Expires: 2027-01-15 08:05:00 UTC\
""",
                        "emoji": False,
                    },
                },
                {
                    "type": "section",
                    "text": {"type": "mrkdwn", "text": "<https://agents.example.com/ai-api/decide/TOKEN|Decide>"},
                },
            ],
            "unfurl_links": False,
            "unfurl_media": False,
        }
    )
    assert document(post("slack", END, "")) == snapshot(
        {
            "text": "Run finished",
            "blocks": [
                {"type": "header", "text": {"type": "plain_text", "text": "Run finished", "emoji": False}},
                {
                    "type": "section",
                    "text": {
                        "type": "plain_text",
                        "text": """\
User: ann
Agent: clerk
Run: run_1
Reason: stop
Tokens: 1200 + 34\
""",
                        "emoji": False,
                    },
                },
            ],
            "unfurl_links": False,
            "unfurl_media": False,
        }
    )


LARGE = msgspec.structs.replace(
    ASK,
    row=msgspec.structs.replace(ASK.row, session="/".join(["%F0%9F%98%80" * 200] * 4), agent="a" * 64),
    asked=Asked("c" * 200, "t" * 64, cut("\N{GRINNING FACE}" * 10_000, LONGEST), AT),
)
LIMITS = {"json": 40_000, "feishu": 20_000, "dingtalk": 20_000, "wecom": 4_096 + 60, "slack": 12_000}


@pytest.mark.parametrize("kind", FORMATS)
def test_the_largest_message_keeps_to_the_receivers_limit(kind: str) -> None:
    assert len(post(kind, LARGE).body) <= LIMITS[kind]


HOSTILE = "<at id=all></at> <!channel> <@U1> [free](http://evil.example) ![x](http://evil.example/p) `x` \n# Big"
MARKUP = {"dingtalk": ("<", "](", "`"), "wecom": ("<", "](", "`")}


@pytest.mark.parametrize("kind", ["feishu", "dingtalk", "wecom", "slack"])
def test_nothing_that_a_model_wrote_becomes_a_link_a_mention_or_a_tag(kind: str) -> None:
    asked = msgspec.structs.replace(ASKED, arguments=HOSTILE, tool="<!here>")
    made = document(post(kind, msgspec.structs.replace(ASK, asked=asked, link=""), ""))
    for tag, text in texts(made):
        if tag != "plain_text":
            assert not any(mark in text for mark in MARKUP.get(kind, ("<",)))
            assert "\n#" not in text.removeprefix("###")


def texts(value: Any, tag: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a message, with the kind of text that it is declared as."""
    if isinstance(value, dict):
        mapping = cast("dict[str, Any]", value)
        inner = str(mapping.get("tag", mapping.get("type", "")))
        for each in mapping.values():
            yield from texts(each, inner)
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from texts(each, tag)
    elif isinstance(value, str):
        yield tag, value
