"""Profiles: facts of a model family that requests, retries and prices depend on. No provider's name stands in code."""

from typing import Literal

import msgspec

When = Literal["always", "without_thinking", "never"]


class Price(msgspec.Struct, frozen=True, gc=False):
    """Money per million tokens.

    `cached`: input that came from the provider's cache; `cache_write`: input that went into it (None: as input).
    """

    input: float = 0.0
    output: float = 0.0
    cached: float | None = None
    cache_write: float | None = None
    currency: str = "USD"


class Profile(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """What a model takes and gives. The defaults are those of a full model that nobody knows more about.

    What it can do:
        `window`, `max_output`: tokens; 0 means not known. `tools`, `vision`. `parallel_tools`: it may make several
        calls in one answer, else it is told not to. `json_schema`: it keeps to a schema for its answer. `reasoning`: it
        never thinks, thinks when asked, thinks unless asked not to, or always does. `thinking_with_tools`: it may think
        in a request that has tools. `sampling`: when it takes a temperature. `forced_choice`: when it can be made to
        call a tool.
    How it is told:
        `thinking_on` / `thinking_off`: a JSON object whose members are added to the request when thinking is asked
        for, or asked not to be; the strings "$effort" and "$budget" in it stand for the route's, "$effort:high" for
        "high" where the route has none. `empty_content`: what an assistant message with calls and no text has as
        content; "omit" also means that no message may have an empty text. `max_tokens_field`: the name of the token
        limit. `system_role`: "developer" for some models. `usage_option`: it takes `stream_options`. `schemas`: the
        JSON Schemas it takes: any, or plain ones (models/plain_schema.py). `prompt_cache`: the prefix is marked for its
        cache. `api_version`, `betas`: the version, and the betas with commas between, of Anthropic's API that it is
        asked with. `call_id_length`: ids of calls have exactly so many letters and digits; 0 for any.
        `user_after_tool`: a person may speak right after a tool.
    What goes back:
        `reasoning_back`: which messages go back with their reasoning, in the field `reasoning_field` ("content": as a
        part of it). `reasoning_fill`: what stands there in a message with calls that has no reasoning of this model;
        None leaves the field out. `unsigned_call`: a JSON object whose members the first call of a message has where
        this model has signed none of them.
    """

    window: int = 0
    max_output: int = 0
    tools: bool = True
    parallel_tools: bool = True
    json_schema: bool = True
    vision: bool = True
    reasoning: Literal["never", "optional", "by_default", "always"] = "optional"
    thinking_with_tools: bool = True
    sampling: When = "always"
    forced_choice: When = "always"
    thinking_on: str = ""
    thinking_off: str = ""
    empty_content: Literal["null", "empty", "omit"] = "null"
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    system_role: Literal["system", "developer"] = "system"
    usage_option: bool = True
    schemas: Literal["any", "plain"] = "any"
    prompt_cache: bool = True
    api_version: str = ""
    betas: str = ""
    call_id_length: int = 0
    user_after_tool: bool = True
    reasoning_back: Literal["never", "with_tools", "always"] = "never"
    reasoning_field: Literal["reasoning_content", "reasoning", "content"] = "reasoning_content"
    reasoning_fill: str | None = None
    unsigned_call: str = ""
    price: Price | None = None
