"""A dialect of one's own, for a protocol that no mapping describes: lines such as `T "Hello"`, `C {…}`, `U {…}`, `.`.

In talaria.yaml: {prefix: corp, dialect: "private_dialect:PrivateDialect", baseUrl: "https://models.corp.example"}
"""

import json

from talaria.core.errors import ModelRejected, ModelUnavailable, StreamTruncated
from talaria.core.messages import AssistantMessage, Text, ToolCall, ToolMessage, UserMessage
from talaria.core.usage import Usage
from talaria.ports.model import Answer, HttpCall, TextDelta


class PrivateDialect:
    def request(self, request, connection):
        turns = [turn for message in request.prompt.messages for turn in _turns(message)]
        tools = [
            {"name": tool.name, "about": tool.description, "takes": tool.parameters} for tool in request.prompt.tools
        ]
        body = {"bot": connection.model, "briefing": request.prompt.system, "turns": turns, "tools": tools}
        headers = (("x-corp-key", connection.api_key), *connection.headers)
        return HttpCall(f"{connection.base_url}/v2/talk", headers, json.dumps(body).encode())

    def decoder(self, connection):
        return PrivateDecoder()

    def failure(self, status, headers, body):
        words = body.decode("utf-8", "replace")  # for the operator: clients never see a provider's words
        if status == 429 or status >= 500:
            return ModelUnavailable("the corp model is busy; try again later", operator=words)
        return ModelRejected(f"the corp model refused the request (HTTP {status})", operator=words)


def _turns(message):
    if isinstance(message, UserMessage):
        yield {"by": "person", "says": "\n".join(part.text for part in message.parts if isinstance(part, Text))}
    elif isinstance(message, AssistantMessage):
        yield {"by": "bot", "says": message.text, "calls": [[c.id, c.name, c.arguments] for c in message.calls]}
    elif isinstance(message, ToolMessage):
        yield {"by": "tool", "call": message.call_id, "says": message.text}


class PrivateDecoder:
    def __init__(self):
        self.progress = "waiting"
        self.notes = []
        self._rest = b""
        self._said, self._calls, self._usage = [], [], Usage()

    def feed(self, data):
        *lines, self._rest = (self._rest + data).split(b"\n")  # bytes may be cut anywhere, also within a character
        return [delta for line in lines for delta in self._line(line)]

    def end(self):
        if self.progress != "done":
            raise StreamTruncated("the corp model's answer ended too early")
        message = AssistantMessage((*self.partial().parts, *self._calls))
        return [], Answer(message, "tool_calls" if self._calls else "stop", self._usage)

    def partial(self):
        return AssistantMessage((Text("".join(self._said)),) if self._said else (), incomplete=True)

    def _line(self, line):
        kind, value = line[:1], line[2:]
        self.progress = "done" if kind == b"." else "answering"
        if kind == b"T":
            self._said.append(json.loads(value))
            yield TextDelta(self._said[-1])
        elif kind == b"C":
            call = json.loads(value)
            self._calls.append(ToolCall(call["id"], call["name"], json.dumps(call["input"])))
        elif kind == b"U":
            self._usage = Usage(*json.loads(value))
        elif kind == b"E":
            raise ModelUnavailable("the corp model broke off its answer", operator=value.decode())
