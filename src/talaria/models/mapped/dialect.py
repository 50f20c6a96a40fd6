"""The mapped dialect: a `Dialect` for one protocol, as a route's `mapping` describes it."""

from collections.abc import Sequence
from typing import Any

import msgspec

from talaria.core.errors import ModelError
from talaria.models import failures
from talaria.models.encoded import encoded
from talaria.models.headers import bearer_headers
from talaria.models.mapped.decoder import MappedDecoder
from talaria.models.mapped.mapping import ProtocolMapping
from talaria.models.mapped.reading import Reading
from talaria.models.mapped.template import filled, placeholders
from talaria.models.mapped.transcript import as_prompt, newest_query
from talaria.models.openai.messages import EncodedPrompt
from talaria.models.reply_decoder import ReplyDecoder
from talaria.models.thinking import thinking_members
from talaria.ports.model import Connection, HttpCall, ModelRequest, Prompt
from talaria.ports.profile import Profile

_encode = msgspec.json.Encoder().encode


class MappedDialect:
    """A `Dialect`. `stream` is asked where there is one, else `call`, whose answer is a stream of one delta."""

    def __init__(self, mapping: ProtocolMapping) -> None:
        self._template = mapping.request
        self._wanted = frozenset(placeholders(mapping.request))
        self._path = mapping.stream or mapping.call or ""
        self._reading = Reading(mapping)

    def request(self, request: ModelRequest, connection: Connection) -> HttpCall:
        """Write the HTTP call; messages that an earlier call with the same prompt has written are not written again."""
        values = {name: value for name, value in self._values(request, connection).items() if value not in (None, "")}
        body = filled(self._template, values) | thinking_members(request, connection.profile)
        url = f"{connection.base_url.rstrip('/')}{self._path}"
        return HttpCall(url, bearer_headers(connection), _encode(body))

    def decoder(self, connection: Connection) -> ReplyDecoder:
        """Return a decoder for one reply."""
        return MappedDecoder(self._reading, connection.issuer)

    def failure(self, status: int, headers: Sequence[tuple[str, str]], body: bytes) -> ModelError:
        """Return the ModelError that a reply with status >= 300 means."""
        return failures.of_status(status, body)

    def _values(self, request: ModelRequest, connection: Connection) -> dict[str, Any]:
        wanted, prompt = self._wanted, request.prompt
        values: dict[str, Any] = {
            "$model": connection.model,
            "$system": prompt.system,
            "$user": request.user,
            "$assistant": request.assistant,
            "$thinking": None if request.thinking is None else request.thinking == "enabled",
            "$temperature": request.temperature,
            "$maxTokens": request.max_tokens,
        }
        if "$messages" in wanted or "$tools" in wanted:
            written = encoded(request, connection, _without_system if "$system" in wanted else EncodedPrompt)
            values["$messages"] = msgspec.Raw(b"[%b]" % written.messages)
            values["$tools"] = msgspec.Raw(written.tools) if written.tools else None
        if "$prompt" in wanted:
            values["$prompt"] = as_prompt(prompt, with_system="$system" not in wanted)
        if "$query" in wanted:
            values["$query"] = newest_query(prompt)
        return values


def _without_system(prompt: Prompt, issuer: str, profile: Profile) -> EncodedPrompt:
    return EncodedPrompt(Prompt("", prompt.tools), issuer, profile)
