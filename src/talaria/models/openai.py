"""The chat-completions dialect, as OpenAI and everybody compatible speak it (https://platform.openai.com/docs/api-reference/chat)."""

from collections.abc import Sequence
from typing import cast

import msgspec

from talaria.core.errors import ModelError
from talaria.models import failures
from talaria.models.openai_decoder import OpenAiDecoder
from talaria.models.openai_messages import EncodedPrompt
from talaria.models.profile import Profile
from talaria.models.routes import Route
from talaria.models.structured import response_format
from talaria.ports.model import HttpCall, ModelRequest, Prompt

_encode = msgspec.json.Encoder().encode


class OpenAiDialect:
    """A `Dialect`. `issuer` names whose reasoning and signatures these are: they go back to the same issuer only."""

    def __init__(self, issuer: str = "openai") -> None:
        self.issuer = issuer

    def request(self, request: ModelRequest, model: str, connection: Route) -> HttpCall:
        """Write the HTTP call; messages that an earlier call with the same prompt has written are not written again."""
        profile = connection.profile
        prompt = self._encoded(request.prompt, profile)
        members: list[bytes | bytearray] = [b'{"model":', _encode(model), b',"messages":[', prompt.messages, b"]"]
        if prompt.tools:
            members += (b',"tools":', prompt.tools)
        members += (b",", _encode(_options(request, profile, has_tools=bool(prompt.tools)))[1:-1])
        thinking = {"enabled": profile.thinking_on, "disabled": profile.thinking_off, None: ""}[request.thinking]
        if len(thinking) > 2:
            members += (b",", thinking.strip()[1:-1].encode())
        members.append(b"}")
        url = f"{connection.base_url.rstrip('/')}/chat/completions"
        return HttpCall(url, _headers(connection), b"".join(members))

    def decoder(self) -> OpenAiDecoder:
        """Return a decoder for one reply."""
        return OpenAiDecoder(self.issuer)

    def failure(self, status: int, headers: Sequence[tuple[str, str]], body: bytes) -> ModelError:
        """Return the ModelError that a reply with status >= 300 means."""
        return failures.of_status(status, body)

    def _encoded(self, prompt: Prompt, profile: Profile) -> EncodedPrompt:
        key = (self.issuer, id(profile))  # a route keeps its profile for as long as there are prompts
        encoded = cast("EncodedPrompt | None", prompt.cache.get(key))
        if encoded is None:
            encoded = prompt.cache[key] = EncodedPrompt(prompt, self.issuer, profile)
        encoded.catch_up(prompt)
        return encoded


def _options(request: ModelRequest, profile: Profile, *, has_tools: bool) -> dict[str, object]:
    options: dict[str, object] = {"stream": True}
    if profile.usage_option:
        options["stream_options"] = {"include_usage": True}
    if has_tools and (request.tool_choice == "none" or (request.tool_choice == "required" and profile.forced_choice)):
        options["tool_choice"] = request.tool_choice
    if request.output_schema is not None and profile.json_schema:
        options["response_format"] = response_format(request.output_schema)
    if request.temperature is not None and profile.temperature:
        options["temperature"] = request.temperature
    if request.max_tokens is not None:
        options[profile.max_tokens_field] = request.max_tokens
    return options


def _headers(connection: Route) -> tuple[tuple[str, str], ...]:
    own = [("content-type", "application/json"), ("accept", "text/event-stream")]
    if connection.api_key:
        own.append(("authorization", f"Bearer {connection.api_key}"))
    given = {name.lower() for name, _ in connection.headers}
    return (*(pair for pair in own if pair[0] not in given), *connection.headers)
