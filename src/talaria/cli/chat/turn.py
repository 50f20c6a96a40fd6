"""A turn as its client knows it: events in, blocks out. Nothing here reads or writes."""

from itertools import count
from typing import Any

from talaria.cli.chat.blocks import Block, Called, Delegated, Ended, Noticed, Question, Said, Thought, Words
from talaria.cli.chat.events import Event

OUTPUT_KEPT = 4_000
"""Characters of a tool's output that are kept while it runs."""

_SUBAGENT = "subagent_"


class Stream:
    """What a turn and its subagents have in common: the order of their events, and the open questions by id."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.questions: dict[str, Question] = {}
        self._count = count(1)

    def number(self, event: Event) -> int:
        """Give an event its number, by which a rewind finds it again."""
        number = next(self._count)
        if event.id:
            self.numbers[event.id] = number
        return number


class Turn:
    """One turn. `blocks` are those that may still change; `who` is the subagent whose turn it is."""

    def __init__(self, stream: Stream | None = None, who: str = "") -> None:
        self.blocks: list[Block] = []
        self.thoughts: list[str] = []
        self.end: Ended | None = None
        self.session_id = ""
        self.calls = 0
        self._who = who
        self._calls: dict[str, Called] = {}
        self._tasks: dict[str, Delegated] = {}
        self._stream = stream or Stream()
        self._settled = 0

    @property
    def questions(self) -> dict[str, Question]:
        """The open questions by id, those of subagents too."""
        return self._stream.questions

    def take(self, event: Event) -> None:
        """Add an event; types that are not known are none of a client's business."""
        if event.type.startswith(_SUBAGENT):
            self._delegate(event)
            return
        number = self._stream.number(event)
        match event.type:
            case "token":
                self._flow(Said, number, event)
            case "reasoning":
                self._flow(Thought, number, event)
            case "rewind":
                self._rewind(event)
            case "approval_request" | "question" | "approval_resolved":
                self._ask(event)
            case "finish" | "error":
                self._finish(event)
            case _ if event.type.startswith("tool_"):
                self._tool(event)
            case _:
                self._mention(event)

    def settle(self) -> list[Block]:
        """Take out the blocks at the front that will not change any more."""
        done = 0
        while done < len(self.blocks) and self._is_settled(done):
            done += 1
        settled, self.blocks = self.blocks[:done], self.blocks[done:]
        for block in settled:
            if isinstance(block, Words) and block.pieces:
                self._settled = block.pieces[-1][0]
            if isinstance(block, Thought):
                self.thoughts.append(block.text)
        return settled

    def _is_settled(self, at: int) -> bool:
        if self.end is not None:
            return True
        match self.blocks[at]:
            case Said() | Thought():
                return any(isinstance(each, Called | Delegated) for each in self.blocks[at + 1 :])
            case Called() as call:
                return call.result is not None
            case Delegated() as task:
                return task.turn.end is not None
            case _:
                return True

    # Text

    def _flow(self, kind: type[Said] | type[Thought], number: int, event: Event) -> None:
        last = self.blocks[-1] if self.blocks else None
        if not isinstance(last, kind):
            last = kind(began=event.at)
            self.blocks.append(last)
        last.pieces.append((number, event.text))
        last.ended = event.at

    def _rewind(self, event: Event) -> None:
        if (task := self._tasks.get(str(event.body.get("taskId", "")))) is not None:
            task.turn.take(Event(event.id, event.type, {"data": event.text}, event.at))
            return
        target = self._stream.numbers.get(event.text, 0)
        for block in self.blocks:
            if isinstance(block, Words):
                block.drop_after(target)
        self.blocks = [block for block in self.blocks if not isinstance(block, Words) or block.pieces]
        if self._settled > target:
            self._note("some of the text above is said again")
            self._settled = target

    def _note(self, text: str) -> None:
        """A notice goes before a text that is not over: it must not cut a text in two."""
        at = len(self.blocks) - (1 if self.blocks and isinstance(self.blocks[-1], Said) else 0)
        self.blocks.insert(at, Noticed(text))

    # Calls

    def _tool(self, event: Event) -> None:
        for each in event.body.get("toolCalls", ()):
            call = self._call(each)
            if event.type == "tool_started":
                call.started = event.at
        for each in event.body.get("toolResults", ()):
            _end(self._call(each), each)
        if event.type == "tool_output":
            call = self._call({"id": event.body.get("toolCallId", ""), "name": "tool"})
            call.output = (call.output + event.text)[-OUTPUT_KEPT:]

    def _call(self, info: dict[str, Any]) -> Called:
        call = self._calls.get(str(info["id"]))
        if call is None:
            call = self._calls[str(info["id"])] = Called(str(info["id"]), str(info["name"]))
            self.blocks.append(call)
            self.calls += 1
        call.arguments = str(info.get("arguments") or call.arguments)
        return call

    # Questions

    def _ask(self, event: Event) -> None:
        if event.type == "approval_resolved":
            question = self.questions.pop(event.text, None)
            if question is not None and question.call is not None:
                question.call.is_asked, question.call.decision = False, str(event.body.get("reason", ""))
            return
        call = next((self._call(each) for each in event.body.get("toolCalls", ())), None)
        if call is not None:
            call.is_asked = True
        text, choices = str(event.body.get("question", "")), tuple(map(str, event.body.get("choices", ())))
        why = str(event.body.get("reason", ""))
        self.questions[event.text] = Question(event.text, call, text, choices, self._who, why)

    # The rest

    def _delegate(self, event: Event) -> None:
        name, task_id = str(event.body.get("name", "subagent")), str(event.body.get("taskId", ""))
        task = self._tasks.get(task_id)
        if task is None:
            task = self._tasks[task_id] = Delegated(name, task_id, Turn(self._stream, name))
            self.blocks.append(task)
        task.turn.take(Event(event.id, event.type.removeprefix(_SUBAGENT), event.body, event.at))

    def _plan(self, event: Event) -> None:
        call = self._call({"id": event.body.get("toolCallId", ""), "name": "TodoWrite"})
        steps = [(str(each["status"]), each) for each in event.body.get("data", ())]
        call.plan = tuple(
            (status, str((status == "in_progress" and each.get("activeForm")) or each["content"]))
            for status, each in steps
        )

    def _finish(self, event: Event) -> None:
        for each in [each for each in self.questions.values() if each.who == self._who]:
            del self.questions[each.id]
        figures = event.body.get("usage", {})
        is_error, code = event.type == "error", str(event.body.get("reason", ""))
        self.end = Ended(code, event.text if is_error else "", figures)
        self.blocks.append(self.end)

    def _mention(self, event: Event) -> None:
        match event.type:
            case "run_started":
                self.session_id = str(event.body.get("sessionId", ""))
            case "queued":
                self._note(f"waits in line ({event.text})")
            case "notice":
                self._note(event.text)
            case "todo":
                self._plan(event)
            case "artifact":
                self._note(f"file: {event.body.get('name', '')} {event.body.get('url', '')}")
            case "custom":
                self._note(f"{event.body.get('name', '')}: {event.text}")
            case _:
                pass


def _end(call: Called, result: dict[str, Any]) -> None:
    call.result, call.is_error, call.is_asked = str(result.get("result", "")), bool(result.get("isError")), False
    took = result.get("durationMs")
    call.seconds = None if took is None else took / 1000
