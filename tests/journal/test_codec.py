"""Entries as bytes: what was written once loads for ever."""

from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from talaria.core.ids import SessionKey
from talaria.core.messages import AssistantMessage, Text
from talaria.core.principal import Principal
from talaria.core.skills import Skill
from talaria.core.subagents import Subagent
from talaria.journal import codec
from talaria.journal.codec import OVERSIZE, blob_ref, decode_entry, encode_entry
from talaria.journal.entries import AnyEntry, ModelFinished, Oversize, ToolFinished
from talaria.journal.letters import (
    DecisionBody,
    TurnBody,
    cancel_letter,
    decision_letter,
    encode_body,
    read_decision,
    read_turn,
)
from talaria.journal.session import SessionWriter, load_state
from talaria.journal.state import SessionState
from talaria.journal.turn import OutputSpec, RunLimits, TurnOptions
from talaria.journal.views import entry_events, last_position
from talaria.journal.visible import is_visible
from talaria.ports.inbox import Letter
from talaria.stores.memory.store import MemoryStore
from tests.journal.entries import EXTERNAL, FULL, KEY

GOLDEN = Path(__file__).parents[1] / "golden"


def golden(name: str) -> bytes:
    return (GOLDEN / f"{name}.json").read_bytes()


def tag(kind: type) -> str:
    return str(kind.__struct_config__.tag)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


KINDS = (*get_args(AnyEntry), Oversize)


@pytest.mark.parametrize("kind", KINDS, ids=tag)
def test_every_type_of_entry_has_a_golden_file_that_loads_and_is_written_the_same(kind: type) -> None:
    data = golden(tag(kind)).strip()
    entry = decode_entry(data)
    assert type(entry) is kind
    assert msgspec.json.encode(entry) == data


def test_every_golden_file_loads() -> None:
    files = sorted(file for file in GOLDEN.glob("*.json") if not file.name.startswith("letter_"))
    assert len(files) >= len(KINDS)
    for file in files:
        decode_entry(file.read_bytes().strip())


@pytest.mark.parametrize("entry", FULL, ids=lambda entry: type(entry).__name__)
def test_the_golden_files_hold_every_field(entry: AnyEntry) -> None:
    assert decode_entry(golden(tag(type(entry))).strip()) == entry


def test_letters_that_wait_load_for_ever() -> None:
    turn = read_turn(Letter("s", "k", "turn", "r", 0, golden("letter_turn.1").strip()))
    assert turn == TURN
    assert encode_body(turn) == golden("letter_turn.1").strip()
    decision = read_decision(Letter("s", "k", "decision", "r", 0, golden("letter_decision.1").strip()))
    assert decision == DECISION
    assert encode_body(decision) == golden("letter_decision.1").strip()
    older = read_decision(Letter("s", "k", "decision", "r", 0, golden("letter_decision.1.without_answer").strip()))
    assert older == msgspec.structs.replace(DECISION, via="", answer="", role="", is_error=False)


TURN = TurnBody(
    query="Hi",
    principal=Principal("acme", "ann", ("user",)),
    agent="clerk",
    model="gpt-x",
    limits=RunLimits(max_calls=3, output_repairs=7),
    options=TurnOptions("disabled", 0.1, 5),
    system="Persona",
    tools=("look",),
    history=(AssistantMessage((Text("So"),)),),
    secrets=("apiKey",),
    labels={"a": "b"},
    detached=False,
    digest="abc",
    output=OutputSpec({"type": "object"}, "final_answer"),
    bypass=True,
    subagents=(Subagent("helper", "Helps."),),
    external=(EXTERNAL,),
    notices=(("subagent_failed", "it is not there"),),
    skills=(Skill("pdf", "Reads PDFs.", "ab12"),),
)
DECISION = DecisionBody(
    "edited", "bob", '{"x":2}', "no", remember=True, via="link", answer="Blue", role="boss", is_error=True
)


def test_letters_of_one_question_or_run_have_one_key() -> None:
    first = decision_letter("s", "ask_1", "r", 1, DECISION)
    second = decision_letter("s", "ask_1", "r", 2, DecisionBody("declined"))
    assert first.key == second.key == "ask_1"
    assert cancel_letter("s", "r", 1).key == cancel_letter("s", "r", 2).key


def test_an_old_version_is_upgraded_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def first(raw: dict[str, Any]) -> dict[str, Any]:
        raw = raw | {"type": "tool_ended.1", "call_id": raw["call"]}
        del raw["call"]
        return raw

    def second(raw: dict[str, Any]) -> dict[str, Any]:
        return raw | {"type": "tool_finished.1", "text": raw.get("text", "nothing")}

    monkeypatch.setitem(codec.UPGRADES, "tool_ended.0", first)
    monkeypatch.setitem(codec.UPGRADES, "tool_ended.1", second)
    old = b'{"type":"tool_ended.0","run":"r","at":1,"call":"c","name":"n"}'
    assert decode_entry(old) == ToolFinished(run="r", at=1, call_id="c", name="n", text="nothing")


def test_an_entry_of_a_later_version_is_refused() -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_entry(b'{"type":"tool_finished.99","run":"r","at":1}')


def test_an_entry_that_is_too_large_is_kept_as_a_blob() -> None:
    small = ToolFinished(run="r", at=1, call_id="c", name="n", text="x" * 10)
    assert encode_entry(small)[1] is None
    large = ToolFinished(run="r", at=1, call_id="c", name="n", text="x" * OVERSIZE)
    data, blob = encode_entry(large)
    assert blob is not None
    assert blob[0] == blob_ref(blob[1])
    assert decode_entry(data) == Oversize(blob[0])
    assert decode_entry(blob[1]) == large


async def test_large_entries_are_read_back_whole() -> None:
    store = MemoryStore()
    writer = SessionWriter(store.journal, SessionState(KEY), 1, lambda _: None)
    entries = [
        FULL[0],
        ModelFinished(run="run_1", at=1, round=1, epoch=1, attempt=1, message=AssistantMessage((Text("x" * 100_000),))),
    ]
    writer.record(*entries)
    await writer.flush()
    assert max(len(record.data) for record in await store.journal.read(KEY.path)) < 2_000
    state = await load_state(store.journal, store.blobs, KEY)
    assert state.prompt.messages == writer.state.prompt.messages


@pytest.mark.parametrize("entry", FULL, ids=lambda entry: type(entry).__name__)
def test_an_entry_is_visible_exactly_if_it_makes_an_event(entry: AnyEntry) -> None:
    events = entry_events(1, "s", entry)
    assert bool(events) == is_visible(entry)
    assert [position for position, _ in events] == [(1, 0, 0, at) for at in range(len(events))]
    if events:
        assert last_position(1, entry) == events[-1][0]


def test_session_keys_are_what_stores_file_under() -> None:
    assert SessionKey.parse(KEY.path) == KEY
