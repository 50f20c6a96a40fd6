"""The Responses dialect (https://developers.openai.com/api/docs/api-reference/responses), with nothing stored."""

from collections.abc import Sequence
from typing import cast

import msgspec

from talaria.core.errors import ModelError
from talaria.models import failures
from talaria.models.headers import bearer_headers
from talaria.models.openai.dialect import NOBODY
from talaria.models.openai.structured import response_format
from talaria.models.responses.decoder import ResponsesDecoder
from talaria.models.responses.messages import EncodedInput
from talaria.models.thinking import thinking_members
from talaria.ports.model import Connection, HttpCall, ModelRequest
from talaria.ports.profile import Profile

_encode = msgspec.json.Encoder().encode


class ResponsesDialect:
    """A `Dialect`."""

    def request(self, request: ModelRequest, connection: Connection) -> HttpCall:
        """Write the HTTP call; messages that an earlier call with the same prompt has written are not written again."""
        encoded = _encoded(request, connection)
        members: list[bytes | bytearray] = [b'{"model":', _encode(connection.model)]
        if encoded.instructions:
            members += (b',"instructions":', encoded.instructions)
        members += (b',"input":[', encoded.items, b"]")
        if encoded.tools:
            members += (b',"tools":', encoded.tools)
        members += (b",", _encode(_options(request, connection.profile, has_tools=bool(encoded.tools)))[1:])
        url = f"{connection.base_url.rstrip('/')}/responses"
        return HttpCall(url, bearer_headers(connection), b"".join(members))

    def decoder(self, connection: Connection) -> ResponsesDecoder:
        """Return a decoder for one reply."""
        return ResponsesDecoder(connection.issuer)

    def failure(self, status: int, headers: Sequence[tuple[str, str]], body: bytes) -> ModelError:
        """Return the ModelError that a reply with status >= 300 means."""
        return failures.of_status(status, body)


def _encoded(request: ModelRequest, connection: Connection) -> EncodedInput:
    issuer = connection.issuer if request.reasoning_back else NOBODY
    key = (ResponsesDialect, issuer, connection.profile)
    encoded = cast("EncodedInput | None", request.prompt.cache.get(key))
    if encoded is None:
        encoded = request.prompt.cache[key] = EncodedInput(request.prompt, issuer, connection.profile)
    encoded.catch_up(request.prompt)
    return encoded


def _options(request: ModelRequest, profile: Profile, *, has_tools: bool) -> dict[str, object]:
    options: dict[str, object] = {"stream": True, "store": False}
    if profile.reasoning != "never":
        options["include"] = ["reasoning.encrypted_content"]
    if has_tools and request.tool_choice != "auto":
        options["tool_choice"] = request.tool_choice
    if request.output_schema is not None:
        schema = response_format(request.output_schema)["json_schema"]
        options["text"] = {"format": {"type": "json_schema", "strict": False, **schema}}
    if request.temperature is not None:
        options["temperature"] = request.temperature
    if request.max_tokens is not None:
        options["max_output_tokens"] = request.max_tokens
    return options | thinking_members(request, profile)
