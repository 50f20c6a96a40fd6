"""The module of a recorded test: the script, the setting and what must come of them, as Python source."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from talaria.core.messages import Text
from talaria.journal.entries import ApprovalRequested, ApprovalResolved, ModelFinished, RunFinished, ToolFinished
from talaria.journal.recorded import RecordedRun
from talaria.journal.views import iso_time
from talaria.testing.recording.masks import Masks
from talaria.testing.recording.script import invocation, literal, sequence, steps
from talaria.testing.recording.setting import Setting
from talaria.testing.replay import Called, value_of

_SOURCES = {
    "talaria": ("Agent", "Runtime"),
    "talaria.core.errors": ("ContextOverflow", "ModelRejected", "ModelUnavailable"),
    "talaria.testing.replay": ("Decided", "Fake", "Replayed", "replay"),
    "talaria.testing.scripted_model": ("Call", "Cut", "Fail", "Say", "ScriptedModel"),
}
_BODY = """\
async def play(runtime: Runtime) -> Replayed:
    async with runtime:
        return await replay(runtime, AGENT, QUERY{options})


def test_{name}_goes_as_recorded() -> None:
    model = ScriptedModel(*SCRIPT)
    replayed = asyncio.run(play(Runtime(CONFIG, model=model)))
    assert replayed.calls == CALLS
    assert replayed.text == TEXT
    assert replayed.finish == {finish}
    model.check()
"""


def module_of(run: RecordedRun, setting: Setting, masks: Masks) -> str:
    """Return the source of the test; `masks` is applied to all that was said."""
    fields = dict(_fields(run, setting, masks))
    options = "".join(f", {name}={name.upper()}" for name in fields)
    turn, end = run.turn, next(entry for entry in run.entries if isinstance(entry, RunFinished))
    query = "".join(part.text for part in turn.message.parts if isinstance(part, Text))
    blocks = [
        f"CONFIG = {literal(masks.masked(setting.config))}",
        f"AGENT = {_agent(turn.agent, setting, masks)}",
        f"QUERY = {literal(masks.masked(query))}",
        *(f"{name.upper()} = {source}" for name, source in fields.items()),
        f"SCRIPT = {sequence(list(steps(run, masks, is_own=setting.is_own)))}",
        f"CALLS = {literal(masks.masked(_calls(run)))}",
        f"TEXT = {literal(masks.masked(_text(run, end)))}",
    ]
    name = re.sub(r"\W", "_", turn.run)
    body = (
        "\n".join(blocks) + "\n\n\n" + _BODY.format(options=options, finish=literal(end.error or end.reason), name=name)
    )
    head = f'"""Run {turn.run} of {iso_time(turn.at)}, played again. Written by the recorder of Talaria."""'
    return f"{head}\n\nimport asyncio\n\n{_imports(body)}\n\n{body}"


def _imports(body: str) -> str:
    lines: list[str] = []
    for module, names in _SOURCES.items():
        used = [name for name in names if re.search(rf"\b{name}\b", body)]
        if used:
            lines.append(f"from {module} import {', '.join(used)}")
    return "\n".join(lines)


def _agent(name: str, setting: Setting, masks: Masks) -> str:
    if setting.tools is None:
        return literal(name)
    tools = literal(list(setting.tools))
    if setting.fakes is not None:
        fakes = {each.name: _fake(masks.masked(msgspec.structs.asdict(each))) for each in setting.fakes}
        tools = sequence([fakes.get(each) or literal(each) for each in setting.tools], "[]")
    return invocation("Agent", ("", literal(name)), ("tools", tools))


def _fake(fields: dict[str, Any]) -> str:
    given = [(name, literal(value)) for name, value in fields.items() if value]
    return f"{invocation('Fake', *given)}.tool()"


def _fields(run: RecordedRun, setting: Setting, masks: Masks) -> Iterator[tuple[str, str]]:
    """What the turn is asked with, besides the query: arguments of `replay`, and the sources of their values."""
    turn = run.turn
    plain: dict[str, Any] = {
        "roles": turn.roles,
        "tools": None if setting.fakes is not None else turn.tools,
        "system": turn.system,
        "labels": turn.labels,
        "secrets": dict.fromkeys(turn.secrets, "not-the-secret"),
        "output_schema": turn.output.schema if turn.output is not None else None,
        "model_name": "scripted" if "models" in setting.config else "",
    }
    for name, value in plain.items():
        if value or (name == "tools" and value is not None):
            yield name, literal(masks.masked(value))
    decided = _decisions(run, masks)
    if decided:
        yield "decisions", sequence(decided)


def _decisions(run: RecordedRun, masks: Masks) -> list[str]:
    asked = {entry.request_id: entry for entry in run.entries if isinstance(entry, ApprovalRequested)}
    sources: list[str] = []
    for entry in run.entries:
        if not isinstance(entry, ApprovalResolved) or entry.request_id not in asked:
            continue
        question, edited = asked[entry.request_id], value_of(entry.arguments) if entry.outcome == "edited" else None
        given = [("", literal(question.name)), ("", literal(masks.masked(value_of(question.arguments))))]
        given.append(("approve", literal(entry.outcome in ("approved", "edited", "answered"))))
        more = {"edited": edited, "comment": entry.comment, "answer": entry.answer}
        given += [(name, literal(masks.masked(value))) for name, value in more.items() if value]
        sources.append(invocation("Decided", *given))
    return sources


def _calls(run: RecordedRun) -> list[Called]:
    ended = {entry.call_id: entry.outcome for entry in run.entries if isinstance(entry, ToolFinished)}
    made = [
        call
        for entry in run.entries
        if isinstance(entry, ModelFinished) and not entry.message.incomplete
        for call in entry.message.calls
        if call.id in ended
    ]
    return [(call.name, value_of(call.arguments), "ok" if ended[call.id] == "ok" else "failed") for call in made]


def _text(run: RecordedRun, end: RunFinished) -> str:
    if end.error:
        return ""
    said = [entry.message.text for entry in run.entries if isinstance(entry, ModelFinished)]
    return end.answer or (said[-1] if said else "")
