"""The chat-completions dialect, as OpenAI and everybody compatible speak it (https://platform.openai.com/docs/api-reference/chat)."""

from collections.abc import Sequence

import msgspec

from talaria.core.errors import ModelError
from talaria.models import failures
from talaria.models.encoded import encoded
from talaria.models.headers import bearer_headers
from talaria.models.openai.decoder import OpenAiDecoder
from talaria.models.openai.messages import EncodedPrompt
from talaria.models.openai.structured import response_format
from talaria.models.plain_schema import schema_for
from talaria.models.reply_decoder import ReplyDecoder
from talaria.models.thinking import thinking_members
from talaria.ports.model import Connection, HttpCall, ModelRequest
from talaria.ports.profile import Profile

_encode = msgspec.json.Encoder().encode


class OpenAiDialect:
    """A `Dialect`."""

    def request(self, request: ModelRequest, connection: Connection) -> HttpCall:
        """Write the HTTP call; messages that an earlier call with the same prompt has written are not written again."""
        profile = connection.profile
        prompt = encoded(request, connection, EncodedPrompt)
        model = _encode(connection.model)
        members: list[bytes | bytearray] = [b'{"model":', model, b',"messages":[', prompt.messages, b"]"]
        if prompt.tools:
            members += (b',"tools":', prompt.tools)
        members += (b",", _encode(_options(request, profile, has_tools=bool(prompt.tools)))[1:])
        url = f"{connection.base_url.rstrip('/')}/chat/completions"
        return HttpCall(url, bearer_headers(connection), b"".join(members))

    def decoder(self, connection: Connection) -> ReplyDecoder:
        """Return a decoder for one reply."""
        return OpenAiDecoder(connection.issuer)

    def failure(self, status: int, headers: Sequence[tuple[str, str]], body: bytes) -> ModelError:
        """Return the ModelError that a reply with status >= 300 means."""
        return failures.of_status(status, body)


def _options(request: ModelRequest, profile: Profile, *, has_tools: bool) -> dict[str, object]:
    options: dict[str, object] = {"stream": True}
    if profile.usage_option:
        options["stream_options"] = {"include_usage": True}
    if has_tools and request.tool_choice != "auto":
        options["tool_choice"] = request.tool_choice
    if has_tools and not profile.parallel_tools:
        options["parallel_tool_calls"] = False
    if request.output_schema is not None:
        options["response_format"] = response_format(schema_for(profile, request.output_schema))
    if request.temperature is not None:
        options["temperature"] = request.temperature
    if request.max_tokens is not None:
        options[profile.max_tokens_field] = request.max_tokens
    return options | thinking_members(request, profile)
