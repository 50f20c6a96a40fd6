"""What a Dify app answers, out of the events of a stream or out of one document.

The forms are those of Dify's Service API: https://docs.dify.ai/en/api-reference/guides/streaming and …/errors.
"""

import json
from typing import Any, Literal, cast
from urllib.parse import urljoin

from talaria.tools.errors import CallFailed

_FILE = "__dify__file__"
_SHOWN = ("type", "filename", "mime_type", "size")
PAUSED = "the app waits for a person in Dify; it cannot be continued from here"


class DifyAnswer:
    """An answer, event by event. `task` is what stops it; `result` is there once it is over.

    `base`: against which the addresses of files are read.
    """

    def __init__(self, app: Literal["workflow", "chat"], base: str) -> None:
        self._app = app
        self._base = base
        self._text: list[str] = []
        self._files: list[Any] = []
        self._is_agent = False
        self.task = ""
        self.result: str | None = None

    def take(self, event: dict[str, Any]) -> str:
        """Take an event; return what of the answer is new in it.

        Raises:
            CallFailed: the app came to no end.
        """
        self.task = _text(event, "task_id") or self.task
        match event.get("event"):
            case "text_chunk":
                return _text(_data(event), "text")
            case "message" | "agent_message" as kind:
                return self._say(_text(event, "answer"), by_agent=kind == "agent_message")
            case "message_replace":
                self._text = [_text(event, "answer")]
            case "message_file":
                self._files.append({"type": _text(event, "type"), "url": self._address(event)})
            case "message_end":
                self.result = self._said()
            case "workflow_finished":
                self._finish(_data(event))
            case "workflow_paused" | "human_input_required":
                raise CallFailed(PAUSED)
            case "error":
                raise CallFailed(problem(event))
            case _:
                pass  # nodes, thoughts, speech
        return ""

    def take_whole(self, document: dict[str, Any]) -> None:
        """Take the document of a blocking answer.

        Raises:
            CallFailed: the app came to no end.
        """
        if self._app == "workflow":
            self._finish(_data(document))
        else:
            self._say(_text(document, "answer"), by_agent=False)
            self.result = self._said()

    def _say(self, text: str, *, by_agent: bool) -> str:
        if self._is_agent and not by_agent:  # the closing message of an agent repeats all of it
            self._text = [text]
            return ""
        self._is_agent = by_agent
        self._text.append(text)
        return text

    def _said(self) -> str:
        files = [f"[file: {json.dumps(each, ensure_ascii=False)}]" for each in self._files]
        return "\n".join(["".join(self._text), *files])

    def _finish(self, data: dict[str, Any]) -> None:
        match data.get("status"):
            case "succeeded" | "partial-succeeded":
                if self._app == "workflow":
                    self.result = self._outputs(data.get("outputs"))
            case "stopped":
                raise CallFailed("the app was stopped in Dify")
            case "paused":
                raise CallFailed(PAUSED)
            case status:
                raise CallFailed(f"the app ended as {status}: {_text(data, 'error') or 'no reason is given'}")

    def _outputs(self, outputs: Any) -> str:
        """The outputs as JSON; a single text as it is."""
        plain = self._plain(outputs if outputs is not None else {})
        if isinstance(plain, dict):
            values = list(cast("dict[str, Any]", plain).values())
            if len(values) == 1 and isinstance(values[0], str):
                return values[0]
        return json.dumps(plain, ensure_ascii=False)

    def _plain(self, value: Any) -> Any:
        """Of files what a model can use."""
        if isinstance(value, list):
            return [self._plain(each) for each in cast("list[Any]", value)]
        if not isinstance(value, dict):
            return value
        found = cast("dict[str, Any]", value)
        if found.get("dify_model_identity") == _FILE:
            return {key: found[key] for key in _SHOWN if found.get(key) is not None} | {"url": self._address(found)}
        return {key: self._plain(each) for key, each in found.items()}

    def _address(self, file: dict[str, Any]) -> str:
        return urljoin(self._base, _text(file, "url") or _text(file, "remote_url"))


def problem(said: dict[str, Any]) -> str:
    """What went wrong, out of Dify's envelope for errors."""
    code = _text(said, "code")
    return f"Dify says: {_text(said, 'message')[:2000] or 'no reason'}" + (f" ({code})" if code else "")


def _data(event: dict[str, Any]) -> dict[str, Any]:
    data = event.get("data")
    return cast("dict[str, Any]", data) if isinstance(data, dict) else {}


def _text(event: dict[str, Any], key: str) -> str:
    value = event.get(key)
    return value if isinstance(value, str) else ""
