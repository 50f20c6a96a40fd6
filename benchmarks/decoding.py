"""CPU of decoding a delta, by dialect: `python -m benchmarks.decoding`."""

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from talaria.models.anthropic.decoder import AnthropicDecoder
from talaria.models.openai.decoder import OpenAiDecoder
from talaria.ports.model import Decoder

DELTAS = 20_000
ROUNDS = 7
BOUND = 4.0
Made = tuple[Callable[[str], Decoder], bytes, Sequence[bytes]]


def _event(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _chunk(delta: dict[str, Any]) -> bytes:
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: " + json.dumps({**chunk, "choices": [{"index": 0, "delta": delta}]}).encode() + b"\n\n"


def _block(kind: str, delta: dict[str, Any]) -> tuple[bytes, bytes]:
    block = {"type": kind, "id": "t", "name": "search", "input": {}}
    start = _event({"type": "content_block_start", "index": 0, "content_block": block})
    return start, _event({"type": "content_block_delta", "index": 0, "delta": delta})


def streams() -> Mapping[str, Made]:
    """How each kind of stream is decoded: what makes its decoder, how it begins, and its deltas."""
    text = _block("text", {"type": "text_delta", "text": " word"})
    arguments = _block("tool_use", {"type": "input_json_delta", "partial_json": " word"})
    thought = _block("thinking", {"type": "thinking_delta", "thinking": " word"})
    return {
        "openai, text": (OpenAiDecoder, _chunk({"role": "assistant"}), [_chunk({"content": " word"})] * DELTAS),
        "anthropic, text": (AnthropicDecoder, text[0], [text[1]] * DELTAS),
        "anthropic, arguments": (AnthropicDecoder, arguments[0], [arguments[1]] * DELTAS),
        "anthropic, thinking": (AnthropicDecoder, thought[0], [thought[1]] * DELTAS),
    }


def cost(made: Made) -> float:
    """The least CPU of a delta in µs over some rounds, each delta in a read of its own."""
    make, start, deltas = made
    least = float("inf")
    for _ in range(ROUNDS):
        decoder = make("benchmark")
        decoder.feed(start)
        feed = decoder.feed
        began = time.process_time()
        for delta in deltas:
            feed(delta)
        least = min(least, (time.process_time() - began) / len(deltas) * 1e6)
    return least


def main() -> None:
    """Print a line for each kind of stream; exit with 1 when one is over the bound."""
    costs = {name: cost(made) for name, made in streams().items()}
    for name, least in costs.items():
        sys.stdout.write(f"{name:<24}{least:6.2f} µs a delta\n")
    sys.exit(any(least > BOUND for least in costs.values()))


if __name__ == "__main__":
    main()
