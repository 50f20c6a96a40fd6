"""CPU of a streamed token in a dialect's decoder alone: bytes in, deltas out."""

import gc
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.figures import Figure, plain
from benchmarks.size import Size
from talaria.models.anthropic.decoder import AnthropicDecoder
from talaria.models.mapped.decoder import MappedDecoder
from talaria.models.mapped.mapping import ErrorMapping, ProtocolMapping, UsageMapping
from talaria.models.mapped.reading import Reading
from talaria.models.openai.decoder import OpenAiDecoder
from talaria.models.responses.decoder import ResponsesDecoder
from talaria.ports.model import Decoder, TextDelta

TITLE = "A streamed token, decoding"
TOKENS = 10_000
MOST = 4.0
Make = Callable[[], Decoder]


def _openai() -> list[dict[str, Any]]:
    chunk = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "system_fingerprint": "f",
    }
    said = {"index": 0, "delta": {"content": "word "}, "logprobs": None, "finish_reason": None}
    over = {"index": 0, "delta": {}, "finish_reason": "stop"}
    return [*({**chunk, "choices": [said]} for _ in range(TOKENS)), {**chunk, "choices": [over]}]


def _deepseek() -> list[dict[str, Any]]:
    """Chat completions as DeepSeek writes them: a null beside each piece, and the usage in the last chunk."""
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "system_fingerprint": "f"}
    said = {"content": "word ", "reasoning_content": None}
    choice = {"index": 0, "delta": said, "logprobs": None, "finish_reason": None}
    over = {"index": 0, "delta": {"content": "", "reasoning_content": None}, "finish_reason": "stop"}
    last = {**chunk, "choices": [over], "usage": {"prompt_tokens": 1, "completion_tokens": TOKENS}}
    return [*({**chunk, "choices": [choice]} for _ in range(TOKENS)), last]


def _responses() -> list[dict[str, Any]]:
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    said = {"type": "response.output_text.delta", **place, "delta": "word ", "logprobs": [], "obfuscation": "k3Zq0bW1x"}
    over = {"type": "response.completed", "response": {"status": "completed", "output": []}}
    return [*({**said, "sequence_number": number} for number in range(TOKENS)), over]


def _anthropic() -> list[dict[str, Any]]:
    said = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "word "}}
    over = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": TOKENS}}
    return [*[said] * TOKENS, over]


def _mapped() -> list[dict[str, Any]]:
    said = {"code": 0, "msg": "ok", "data": {"answer": "word "}}
    over = {"code": 0, "msg": "ok", "data": {"why": "stop", "cost": {"prompt_tokens": 1}}}
    return [*[said] * TOKENS, over]


READING = Reading(
    ProtocolMapping(
        stream="/s",
        text="data.answer",
        finish="data.why",
        usage=UsageMapping(path="data.cost"),
        error=ErrorMapping(path="code"),
    )
)
STREAMS: dict[str, tuple[Make, Callable[[], list[dict[str, Any]]]]] = {
    "openai": (lambda: OpenAiDecoder("issuer"), _openai),
    "deepseek": (lambda: OpenAiDecoder("issuer"), _deepseek),
    "anthropic": (lambda: AnthropicDecoder("issuer"), _anthropic),
    "responses": (lambda: ResponsesDecoder("issuer"), _responses),
    "mapped": (lambda: MappedDecoder(READING, "issuer"), _mapped),
}


def _sse(payload: dict[str, Any]) -> bytes:
    data = json.dumps(payload, separators=(",", ":"))
    name = f"event: {payload['type']}\n" if "type" in payload else ""
    return f"{name}data: {data}\n\n".encode()


def _cost(make: Make, reads: Sequence[bytes]) -> float:
    decoder = make()
    gc.collect()
    began = time.process_time()
    seen = sum(type(delta) is TextDelta for read in reads for delta in decoder.feed(read))
    spent = time.process_time() - began
    assert seen == TOKENS, f"{seen} of {TOKENS} tokens came"
    decoder.end()
    return spent / TOKENS * 1e6


def measure(_origin: str, size: Size) -> list[Figure]:
    """Measure."""
    figures: list[Figure] = []
    for name, (make, payloads) in STREAMS.items():
        reads = [_sse(payload) for payload in payloads()]
        costs = [_cost(make, reads) for _ in range(size.rounds + 1)][1:]
        figures.append(plain(f"{name}, a read for each token", "µs", costs, most=MOST))
    return figures
