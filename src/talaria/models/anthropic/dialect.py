"""The Messages dialect, as Anthropic and everybody compatible speak it (https://platform.claude.com/docs/en/api/messages)."""

from collections.abc import Sequence
from typing import Any

import msgspec

from talaria.core.errors import ModelError
from talaria.models import failures
from talaria.models.anthropic.decoder import AnthropicDecoder
from talaria.models.anthropic.messages import MARK, EncodedPrompt
from talaria.models.anthropic.structured import answer_schema
from talaria.models.encoded import encoded
from talaria.models.headers import Headers, stream_headers
from talaria.models.reply_decoder import ReplyDecoder
from talaria.models.thinking import thinking_members
from talaria.ports.model import Connection, HttpCall, ModelRequest
from talaria.ports.profile import Profile

MAX_TOKENS = 8_192
"""The limit of an answer, which has to be named, where neither the request nor the profile has one."""
_CHOICES = {"auto": "auto", "none": "none", "required": "any"}
_encode = msgspec.json.Encoder().encode


class AnthropicDialect:
    """A `Dialect`."""

    def request(self, request: ModelRequest, connection: Connection) -> HttpCall:
        """Write the HTTP call; messages that an earlier call with the same prompt has written are not written again."""
        profile = connection.profile
        prompt = encoded(request, connection, EncodedPrompt)
        mark = MARK if profile.prompt_cache else b""
        members: list[bytes] = [b'{"model":', _encode(connection.model)]
        if prompt.tools:
            members += (b',"tools":[', prompt.tools, mark, b"}]")
        if prompt.system:
            members += (b',"system":[', prompt.system, mark, b"}]")
        members += (b',"messages":', *prompt.messages(mark))
        members += (b",", _encode(_options(request, profile, prompt))[1:])
        return HttpCall(f"{connection.base_url.rstrip('/')}/v1/messages", _headers(connection), b"".join(members))

    def decoder(self, connection: Connection) -> ReplyDecoder:
        """Return a decoder for one reply."""
        return AnthropicDecoder(connection.issuer)

    def failure(self, status: int, headers: Sequence[tuple[str, str]], body: bytes) -> ModelError:
        """Return the ModelError that a reply with status >= 300 means."""
        return failures.of_status(status, body)


def _options(request: ModelRequest, profile: Profile, prompt: EncodedPrompt) -> dict[str, Any]:
    thinking = thinking_members(request, profile)
    if _budget(thinking) and prompt.thinks_no_more:
        thinking = {name: value for name, value in thinking.items() if name != "thinking"}
    options: dict[str, Any] = {"stream": True, "max_tokens": _limit(request, profile, _budget(thinking)), **thinking}
    if prompt.tools and (choice := _choice(request, profile)):
        options["tool_choice"] = choice
    if request.temperature is not None:
        options["temperature"] = request.temperature
    if request.output_schema is not None and (schema := answer_schema(request.output_schema)) is not None:
        output = {"format": {"type": "json_schema", "schema": schema}}
        options["output_config"] = options.get("output_config", {}) | output
    return options


def _budget(thinking: dict[str, Any]) -> int:
    """The tokens to think with. A round of calls may only be gone on with like this if it was begun with thinking."""
    return thinking.get("thinking", {}).get("budget_tokens", 0)


def _limit(request: ModelRequest, profile: Profile, budget: int) -> int:
    """Thinking counts as part of the answer, so the limit is above its budget."""
    limit = request.max_tokens or profile.max_output or budget + MAX_TOKENS
    if limit <= budget:
        limit += budget
    return min(limit, profile.max_output or limit)


def _choice(request: ModelRequest, profile: Profile) -> dict[str, Any]:
    choice: dict[str, Any] = {"type": _CHOICES[request.tool_choice]}
    if not profile.parallel_tools and request.tool_choice != "none":
        return {**choice, "disable_parallel_tool_use": True}
    return choice if request.tool_choice != "auto" else {}


def _headers(connection: Connection) -> Headers:
    profile = connection.profile
    has_token = any(name.lower() == "authorization" for name, _ in connection.headers)
    own = (
        ("anthropic-version", profile.api_version),
        ("anthropic-beta", profile.betas),
        ("x-api-key", "" if has_token else connection.api_key),
    )
    return stream_headers(connection, tuple(pair for pair in own if pair[1]))
