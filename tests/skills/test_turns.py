"""Skills in turns: a real runtime, a real server that has them, real sandboxes."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from talaria import Agent, tool
from talaria.core.errors import ConfigurationError, InvalidRequest
from talaria.core.subagents import Subagent
from talaria.ports.model import ModelRequest
from talaria.runtime.skills import load_skills
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.world import World, end_of, told, world
from tests.skills.conftest import SkillServer
from tests.skills.zips import skill_md, special, zipped

OPEN: dict[str, Any] = {"fetch": {"allowPrivate": True}}


@tool(side_effects=False)
def look_up(what: str) -> str:
    """Look something up."""
    return f"found {what}"


LEAD = Agent("lead", tools=[look_up])


def skills_in(request: ModelRequest) -> str:
    """What a request says of skills; "" without any."""
    return next((spec.description for spec in request.prompt.tools if spec.name == "Skill"), "")


def brought(server: SkillServer, *names: str) -> list[dict[str, str]]:
    return [{"name": name, "url": server.url(name)} for name in names]


def load(name: str) -> Call:
    return Call("Skill", {"name": name})


def result(events: list[Any]) -> str:
    return next(each.result for event in events for each in event.tool_results or ())


def a_folder(root: Path, name: str = "weekly-report", **files: str) -> Path:
    folder = root / name
    folder.mkdir()
    (folder / "SKILL.md").write_bytes(skill_md(name, "Writes the weekly report.", body="Write it on Friday."))
    for path, text in files.items():
        (folder / path).write_text(text)
    return folder


async def test_a_model_is_told_the_names_and_loads_what_it_wants(server: SkillServer, tmp_path: Path) -> None:
    server.files["good-skill"] = zipped(("extra.md", b"more"))
    model = ScriptedModel(load("good-skill"), Say("Done."))
    skills = {"paths": [str(a_folder(tmp_path))]}
    async with world(model, agents=[LEAD], skills=skills, **OPEN) as w:
        events = await w.ask(skills=brought(server, "good-skill"))
    assert skills_in(model.requests[0]).partition("Skills:\n")[2] == snapshot(
        """\
- weekly-report: Writes the weekly report.
- good-skill: Does good. Use it when good is needed.\
"""
    )
    assert all("Do good." not in spec.description for spec in model.requests[0].prompt.tools)
    assert result(events) == snapshot(
        """\
Skill 'good-skill'.
It has 1 more files, which cannot be opened here: there is no workspace.

Do good.\
"""
    )
    assert end_of(events) == ("finish", "stop")
    assert model.requests[0].prompt.tools == model.requests[1].prompt.tools


async def test_nothing_is_said_of_skills_where_there_are_none() -> None:
    model = ScriptedModel(Say("Hi."))
    async with world(model, agents=[LEAD]) as w:
        events = await w.ask()
    assert (skills_in(model.requests[0]), end_of(events)) == ("", ("finish", "stop"))


async def test_what_cannot_be_had_is_told_and_stops_nothing(server: SkillServer) -> None:
    server.files |= {"bad-zip": zipped("../evil"), "other": zipped(), "fine": skill_md("fine")}
    model = ScriptedModel(Say("Hi."))
    async with world(model, agents=[LEAD], **OPEN) as w:
        names = brought(server, "gone", "bad-zip", "other", "fine")
        events = await w.ask(skills=[*names, {"name": "inside", "url": "http://169.254.169.254/latest"}])
        text = str(await w.entries())
    notices = [line.replace(str(server.port), "PORT") for line in told(events) if line.startswith("notice")]
    notices = [line.removeprefix("notice skill_failed skill ").replace(" is left out: ", "\n") for line in notices]
    assert "\n".join(notices) == snapshot(
        """\
'gone'
http://127.0.0.1:PORT answers with status 404
'bad-zip'
'../evil' leads out of the skill
'other'
SKILL.md says that its name is 'good-skill', not 'other'; they must be the same
'inside'
169.254.169.254 leads to an address that is not public; such addresses are not opened here\
"""
    )
    assert "- fine: " in skills_in(model.requests[0])
    assert end_of(events) == ("finish", "stop")
    assert "hidden" not in text  # the URL may be a secret: it is not on record


async def test_private_addresses_are_not_asked_unless_they_are_listed(server: SkillServer) -> None:
    server.files["good-skill"] = zipped()
    async with world(ScriptedModel(Say("Hi.")), agents=[LEAD]) as w:
        events = await w.ask(skills=brought(server, "good-skill"))
    assert any("not public" in line for line in told(events))
    assert server.asked == []


async def test_one_download_serves_all_who_want_it_at_once_and_for_a_while(server: SkillServer) -> None:
    server.files["good-skill"] = zipped()
    clock, model = FakeClock(), ScriptedModel(script=lambda _: Say("Hi."))
    async with world(model, agents=[LEAD], clock=clock, **OPEN) as w:

        async def turn(session: str) -> None:
            await w.events(await w.send(session_id=session, skills=brought(server, "good-skill")))

        await asyncio.gather(*(turn(f"s-{n}") for n in range(8)))
        assert len(server.asked) == 1
        await turn("later")
        assert len(server.asked) == 1
        clock.move(301)
        await turn("much-later")
        assert len(server.asked) == 2
        assert server.asked[1][1] != ""
        server.files["good-skill"] = zipped(md=skill_md("good-skill", "Does better."))
        clock.move(301)
        await turn("changed")
    assert "Does better." in skills_in(model.requests[-1])


@pytest.mark.parametrize("status", [503, 403])
async def test_what_was_had_before_serves_while_the_server_is_out_of_order(server: SkillServer, status: int) -> None:
    server.files["good-skill"] = zipped()
    clock, model = FakeClock(), ScriptedModel(script=lambda _: Say("Hi."))
    async with world(model, agents=[LEAD], clock=clock, **OPEN) as w:
        await w.ask(skills=brought(server, "good-skill"))
        server.status = status
        clock.move(301)
        await w.ask(skills=brought(server, "good-skill"))
        asked = len(server.asked)
        await w.ask(skills=brought(server, "good-skill"))
    # A server that says no is believed; one that is out of order is left alone for a while.
    assert [bool(skills_in(request)) for request in model.requests[1:]] == [status == 503] * 2
    assert len(server.asked) == (asked if status == 503 else asked + 1)


async def test_a_run_has_its_skills_after_a_restart_without_asking_again(server: SkillServer, tmp_path: Path) -> None:
    sqlite = f"sqlite:///{tmp_path}/talaria.db"
    server.files["good-skill"] = zipped()

    @tool(approval=True)
    def send(to: str) -> str:
        """Send it."""
        return f"sent to {to}"

    agent, clock = Agent("lead", tools=[send]), FakeClock()
    model = ScriptedModel(Call("send", {"to": "Ann"}), load("good-skill"), Say("Done."))
    async with world(model, agents=[agent], clock=clock, store=sqlite, **OPEN) as w:
        run = await w.send(skills=brought(server, "good-skill"))
        question = await w.question(run)
        await w.stands(run, "waiting_approval")
    async with world(model, agents=[agent], clock=clock, store=sqlite, **OPEN) as w:
        await w.decide(question)
        events = await w.events(run)
    assert end_of(events) == ("finish", "stop")
    assert "Do good." in str(told(events))
    assert len(server.asked) == 1


async def test_a_subagent_has_the_skills_it_names_of_those_its_caller_has(tmp_path: Path) -> None:
    a_folder(tmp_path, "one")
    a_folder(tmp_path, "two")
    helper = Subagent("helper", "Helps.", "You help.", skills=("two", "three"))
    agent = Agent("lead", tools=[look_up], subagents=[helper, Subagent("bare", "Has none.")])

    def task(name: str) -> Call:
        return Call("Task", {"description": "a task", "prompt": "do it", "subagent_type": name})

    model = ScriptedModel(task("helper"), load("two"), Say("Helped."), task("bare"), Say("Done."), Say("All done."))
    async with world(model, agents=[agent], skills={"paths": [str(tmp_path)]}) as w:
        events = await w.ask()
    assert end_of(events) == ("finish", "stop")
    said = [skills_in(request).partition("Skills:\n")[2] for request in model.requests]
    both, two = "- one: Writes the weekly report.\n- two: Writes the weekly report.", "- two: Writes the weekly report."
    assert said == [both, two, two, both, "", both]


async def test_an_agent_has_the_skills_that_it_names(tmp_path: Path) -> None:
    a_folder(tmp_path, "one")
    a_folder(tmp_path, "two")
    model, skills = ScriptedModel(Say("Hi.")), {"paths": [str(tmp_path)]}
    async with world(model, agents=[Agent("lead", tools=[look_up], skills=["one"])], skills=skills) as w:
        await w.ask()
    assert ("- one:" in skills_in(model.requests[0]), "- two:" in skills_in(model.requests[0])) == (True, False)
    with pytest.raises(ConfigurationError, match="no skill named 'ome'; did you mean 'one'"):
        async with world(model, agents=[Agent("lead", skills=["ome"])], skills=skills):
            pass


async def test_two_skills_of_one_name_are_refused(server: SkillServer) -> None:
    async with world(ScriptedModel()) as w:
        with pytest.raises((InvalidRequest, ValueError), match="two have the same name"):
            await w.ask(skills=brought(server, "a", "a"))


def test_a_path_that_names_a_bad_skill_is_an_error_and_one_among_others_is_left_out(tmp_path: Path) -> None:
    a_folder(tmp_path, "good")
    bad = a_folder(tmp_path, "bad")
    (bad / "SKILL.md").write_bytes(skill_md("another"))
    (tmp_path / "good-skill.zip").write_bytes(zipped("a.md"))
    assert sorted(load_skills([str(tmp_path)])) == ["good", "good-skill"]
    with pytest.raises(ConfigurationError, match="its name is 'another', not 'bad'"):
        load_skills([str(bad)])
    (bad / "SKILL.md").write_bytes(skill_md("bad"))
    (bad / "link").symlink_to("/etc/passwd")
    with pytest.raises(ConfigurationError, match="'link' is a link"):
        load_skills([str(bad)])
    with pytest.raises(ConfigurationError, match="there is no"):
        load_skills([str(tmp_path / "nowhere")])


# In a sandbox


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that other users may enter; pytest's own may not be."""
    path = Path(tempfile.mkdtemp(prefix="talaria-skills-"))
    path.chmod(0o711)
    yield path
    shutil.rmtree(path)


FILES = zipped(
    ("references/guide.md", b"the guide"),
    (special("scripts/run.sh", 0o100755), b"#!/bin/sh\necho it runs\n"),
    md=skill_md("good-skill", more="allowed-tools: Bash(git:*) Teleport\ncompatibility: Needs sh\n"),
)
SPOIL = """cd /workspace/.skills/good-skill
scripts/run.sh; (echo x > references/guide.md) 2>&1; (echo x > new) 2>&1; rm -f references/guide.md 2>&1; ls references
chmod -R u+w . && echo spoilt > references/guide.md && rm scripts/run.sh && ln -s /etc evil; cat references/guide.md"""


@pytest.mark.service("bwrap")
async def test_files_are_read_only_in_the_sandbox_and_put_right_by_loading_again(
    server: SkillServer, folder: Path
) -> None:
    server.files["good-skill"] = FILES
    look = "cd /workspace/.skills; cat good-skill/references/guide.md; ls -A . good-skill; good-skill/scripts/run.sh"
    model = ScriptedModel(
        load("good-skill"),
        Call("Bash", {"command": SPOIL}),
        load("good-skill"),
        Call("Bash", {"command": look}),
        Call("Write", {"file_path": ".skills/good-skill/new", "content": "x"}),
        Say("Done."),
    )
    sandbox = {"kind": "bubblewrap", "state": str(folder), "memory": "256m"}
    approval: dict[str, list[str]] = {"requiredTools": []}
    async with world(model, sandbox=sandbox, approval=approval, **OPEN) as w:
        said = await _results(w, skills=brought(server, "good-skill"))
    first, spoilt, again, looked, written = said
    assert (
        first
        == again
        == snapshot(
            """\
Skill 'good-skill'.
Its files are in /workspace/.skills/good-skill, read-only; paths in it are relative to that folder:
- references/guide.md
- scripts/run.sh
It says that it needs: Needs sh
It names tools that you do not have: Teleport. Do without.

Do good.\
"""
        )
    )
    assert spoilt.startswith("it runs\n")
    assert spoilt.count("Permission denied") == 3
    assert "guide.md\nspoilt" in spoilt
    assert looked.startswith("the guide.:\ngood-skill\n\ngood-skill:\nSKILL.md\nreferences\nscripts\nit runs\n")
    assert "good-skill" in written


async def _results(w: World, **fields: Any) -> list[str]:
    events = [event async for event in w.follow(await w.send(**fields))]
    assert end_of(events) == ("finish", "stop"), told(events)
    return [each.result for event in events for each in event.tool_results or ()]
