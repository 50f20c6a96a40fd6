"""Transcripts: each round's request, answer and results as files that people can read."""

import json
import stat
from pathlib import Path
from typing import Any

from inline_snapshot import snapshot

from talaria.core.ids import SessionKey
from talaria.core.messages import AssistantMessage, Text
from talaria.core.redaction import Redactor
from talaria.journal.entries import ModelFinished
from talaria.ports.model import ModelRequest, Prompt, ToolSpec
from talaria.telemetry.transcripts import Transcripts
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.tools import Shop
from tests.runtime.world import world


def read(folder: Path) -> dict[str, Any]:
    return {str(file.relative_to(folder)): json.loads(file.read_text()) for file in sorted(folder.rglob("*.json"))}


async def test_a_turn_leaves_a_file_for_each_request_answer_and_result(tmp_path: Path) -> None:
    model = ScriptedModel(Call("look", {"what": "lamp"}), Say("A lamp.", reasoning="Hm."))
    async with world(model, tools=[Shop().look], telemetry={"transcripts": str(tmp_path)}) as here:
        run_id = await here.send("What is there?")
        await here.events(run_id)
    files = read(tmp_path)
    assert [name.replace(run_id, "RUN") for name in files] == snapshot(
        [
            "default/anonymous/-/s-1/RUN/001.answer.json",
            "default/anonymous/-/s-1/RUN/001.request.json",
            "default/anonymous/-/s-1/RUN/001.result.scripted_1.json",
            "default/anonymous/-/s-1/RUN/002.answer.json",
            "default/anonymous/-/s-1/RUN/002.request.json",
        ]
    )
    first, last = files[f"default/anonymous/-/s-1/{run_id}/001.request.json"], list(files.values())[-2:]
    assert first["messages"][0]["content"].startswith("What is there?")
    assert first["tools"][0]["name"] == "look"
    assert last[0]["answer"] == {"role": "assistant", "content": "A lamp.", "reasoning": "Hm."}


def said(text: str) -> ModelFinished:
    message = AssistantMessage((Text(text),))
    return ModelFinished(run="run_1", at=0, round=1, epoch=1, attempt=1, message=message)


def test_files_are_for_their_owner_only_and_names_stay_within_the_folder(tmp_path: Path) -> None:
    transcripts = Transcripts(tmp_path / "t")
    for user in ("../../etc", "..", "/root", "a b", "\N{CJK UNIFIED IDEOGRAPH-4E2D}" * 200):
        transcripts.entries(SessionKey("acme", user, "-", "s"), [(1, said("Hi"))])
    transcripts.close()
    written = list(tmp_path.rglob("*.json"))
    assert len(written) == 5
    for file in written:
        assert file.resolve().is_relative_to(tmp_path / "t")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(list((tmp_path / "t" / "acme").iterdir())) == 5


def test_what_cannot_be_written_stops_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "acme").write_text("in the way")
    transcripts = Transcripts(tmp_path)
    transcripts.entries(SessionKey("acme", "u", "-", "s"), [(1, said("lost"))])
    transcripts.entries(SessionKey("other", "u", "-", "s"), [(1, said("lone \ud800")), (2, said("kept"))])
    transcripts.close()
    assert [file["answer"]["content"] for file in read(tmp_path).values()] == ["kept"]


def test_secrets_are_masked_in_requests_and_answers(tmp_path: Path) -> None:
    transcripts = Transcripts(tmp_path)
    key = SessionKey("acme", "u", "-", "s")
    prompt = Prompt(
        "sys s3cret-value", [ToolSpec("t", "s3cret-value", {})], [AssistantMessage((Text("s3cret-value"),))]
    )
    request = ModelRequest("m", prompt, run_id="run_1")
    transcripts.request(key, "", 1, request, Redactor({"key": "s3cret-value"}))
    transcripts.entries(key, [(1, said("it is s3cret-value"))])
    transcripts.close()
    everything = "".join(file.read_text() for file in tmp_path.rglob("*.json"))
    assert "s3cret" not in everything
    assert everything.count("[masked]") == 4


def test_a_deleted_session_takes_its_files_with_it_and_no_others(tmp_path: Path) -> None:
    transcripts = Transcripts(tmp_path)
    for session in ("gone", "stays"):
        transcripts.entries(SessionKey("acme", "u", "-", session), [(1, said(session))])
    transcripts.forget(SessionKey("acme", "u", "-", "gone"))
    transcripts.close()
    assert [file["answer"]["content"] for file in read(tmp_path).values()] == ["stays"]
    assert not (tmp_path / "acme" / "u" / "-" / "gone").exists()
