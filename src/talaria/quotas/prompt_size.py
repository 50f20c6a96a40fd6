"""How many tokens a model call can take at most, before it is made."""

from typing import cast

import msgspec

from talaria.ports.model import Prompt

BYTES_PER_TOKEN = 2
"""Text of any language has fewer tokens than half its bytes; long runs of digits may have more."""
_encode = msgspec.json.Encoder().encode


def prompt_tokens(prompt: Prompt) -> int:
    """More tokens than a prompt has. Every message is measured once: what was measured is kept with the prompt."""
    known = cast("tuple[int, int] | None", prompt.cache.get(prompt_tokens))
    count, size = known or (0, len(_encode(prompt.system)) + len(_encode(prompt.tools)))
    for message in prompt.messages[count:]:
        size += len(_encode(message))
    prompt.cache[prompt_tokens] = (len(prompt.messages), size)
    return size // BYTES_PER_TOKEN
