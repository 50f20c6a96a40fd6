"""How many tokens a model call is asked with at most, before it is made."""

from typing import cast

import msgspec

from talaria.ports.model import ModelRequest, Prompt

BYTES_PER_TOKEN = 2
"""Text of any language has fewer tokens than half its bytes; long runs of digits may have more."""
_encode = msgspec.json.Encoder().encode


def request_tokens(request: ModelRequest) -> int:
    """More tokens than a request has: those of its prompt, and of the schema for its answer."""
    schema = request.output_schema
    return (_prompt_size(request.prompt) + (len(_encode(schema)) if schema else 0)) // BYTES_PER_TOKEN


def _prompt_size(prompt: Prompt) -> int:
    """Bytes of a prompt. Every message is measured once: what was measured is kept with the prompt."""
    known = cast("tuple[int, int] | None", prompt.cache.get(_prompt_size))
    count, size = known or (0, len(_encode(prompt.system)) + len(_encode(prompt.tools)))
    for message in prompt.messages[count:]:
        size += len(_encode(message))
    prompt.cache[_prompt_size] = (len(prompt.messages), size)
    return size
