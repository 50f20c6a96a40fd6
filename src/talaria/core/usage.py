"""Tokens and money of model calls."""

import msgspec


class Usage(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """What model calls took. Tokens are counts; cost is in the price table's currency, None when no price is known.

    `input_tokens` has all of the input: what came from the provider's cache and what went into it, too.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float | None = None
    estimated: bool = False
    cache_write_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        cost = None if self.cost is None and other.cost is None else (self.cost or 0.0) + (other.cost or 0.0)
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            cost,
            self.estimated or other.estimated,
            self.cache_write_tokens + other.cache_write_tokens,
        )
