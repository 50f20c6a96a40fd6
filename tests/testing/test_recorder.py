"""A run that happened becomes a test, which passes where nothing changed and fails where something did."""

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from talaria import Principal, Runtime, tool
from talaria.core.errors import InvalidRequest, ModelRejected, NotFound
from talaria.journal.index import RUN
from talaria.testing.recorder import record
from talaria.testing.replay import Decided, replay
from talaria.testing.scripted_model import Call, Cut, Fail, Restarted, Say, ScriptedModel, Step
from tests.polling import eventually

SECRET = "tr0ub4dor-and-3"
SHOP = Path(__file__).with_name("shop.py")
REFUND = {"order_id": "A-1", "amount": 500}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

SHOPPING = (
    Say(reasoning='Look it "up" first.', calls=(Call("find", "{'article': 'cup', 'most': '2',}"), Call("nothing"))),
    Restarted(
        "I th",
        Say(
            "I pay it back.\nAll\nof it, as it was \\paid\\ on the day 一月 of the year that was.",
            calls=(Call("refund", REFUND),),
        ),
    ),
    Say("Done: 'it' is \"paid\" back.", chunk=3),
)


class Folder(NamedTuple):
    """A folder with the plugin `shop`, and a store on which a runtime is open."""

    path: Path
    runtime: Runtime

    @property
    def config(self) -> dict[str, Any]:
        return {"store": {"url": f"sqlite:///{self.path / 'talaria.db'}"}, "plugins": ["shop"]}

    async def run_id(self) -> str:
        return (await self.runtime.parts.kit.store.index.find(RUN))[0].key

    async def tested(self, source: str) -> str:
        """Run the source as a test in a process of its own; return what pytest says."""
        (self.path / "test_recorded.py").write_text(source, encoding="utf-8")
        return await self.process("-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", "test_recorded.py")

    async def process(self, *arguments: str) -> str:
        process = await asyncio.create_subprocess_exec(
            sys.executable, *arguments, cwd=self.path, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        out, _ = await process.communicate()
        return out.decode()


@asynccontextmanager
async def folder(tmp_path: Path, *steps: Step, **config: Any) -> AsyncGenerator[Folder]:
    shutil.copy(SHOP, tmp_path / "shop.py")
    url = f"sqlite:///{tmp_path / 'talaria.db'}"
    settings = {"store": {"url": url}, "plugins": ["shop"]} | config
    (tmp_path / "talaria.yaml").write_text(json.dumps(settings))
    async with await asyncio.to_thread(Runtime, settings, model=ScriptedModel(*steps)) as runtime:
        yield Folder(tmp_path, runtime)


async def played(source: str) -> None:
    """Run the test of a source in this process."""
    namespace: dict[str, Any] = {"__name__": "recorded"}
    exec(source, namespace)
    await asyncio.to_thread(next(value for name, value in namespace.items() if name.startswith("test_")))


@pytest.fixture(autouse=True)
def _shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))  # pyright: ignore[reportUnknownMemberType]
    monkeypatch.delitem(sys.modules, "shop", raising=False)


async def shopping(there: Folder) -> None:
    paid = Decided("refund", REFUND, approve=True, edited={"order_id": "A-1", "amount": 300}, comment="less")
    await replay(there.runtime, "clerk", "My cup!", decisions=[paid], secrets={"apiKey": SECRET})


async def test_the_command_line_writes_a_test_beside_a_running_server_and_it_passes(tmp_path: Path) -> None:
    async with folder(tmp_path, *SHOPPING) as there:
        await shopping(there)
        said = await there.process("-m", "talaria", "record", await there.run_id(), "-o", "new/test_recorded.py")
        assert said == ""
        source = (tmp_path / "new" / "test_recorded.py").read_text("utf-8")
        assert "1 passed" in await there.tested(source)
    assert SECRET not in source
    assert "Call(\"find\", \"{'article': 'cup', 'most': '2',}\", id=\"scripted_1\")" in source
    assert 'edited={"order_id": "A-1", "amount": 300},' in source


async def test_a_recorded_test_fails_when_a_tool_does_or_the_answer_differs(tmp_path: Path) -> None:
    async with folder(tmp_path, *SHOPPING) as there:
        await shopping(there)
        source = await record(there.runtime, await there.run_id())
        assert "1 failed" in await there.tested(source.replace("TEXT = ", "TEXT = 'not ' + "))
        lines = SHOP.read_text().replace(
            '    return f"{amount}', "    raise OSError('no money')\n    return f\"{amount}"
        )
        (tmp_path / "shop.py").write_text(lines)
        said = await there.tested(source)
    assert "1 failed" in said
    assert "assert replayed.calls == CALLS" in said


async def test_fake_tools_give_the_recorded_results_without_the_plugin(tmp_path: Path) -> None:
    async with folder(tmp_path, *SHOPPING) as there:
        await shopping(there)
        said = await there.process("-m", "talaria", "record", await there.run_id(), "--fake-tools", "-o", "test_it.py")
        assert said == ""
        source = (tmp_path / "test_it.py").read_text("utf-8")
        (tmp_path / "shop.py").unlink()
        assert "1 passed" in await there.tested(source)
        assert SECRET not in source
        wrong = source.replace('"most": 2', '"most": 3').replace('id="scripted_1"', 'id="another"')
        assert "'failed'" in await there.tested(wrong)


ENDS: dict[str, tuple[Sequence[Step], str]] = {
    "stopped": ([Call("breaks", {"how": "stop"})], "tool_failed"),
    "raised": ([Call("breaks", {"how": "raise"}), Say("Sorry.")], "stop"),
    "rejected": ([Fail(ModelRejected("no such model"))], "model_rejected"),
    "cut": ([Cut("Once upon", "Hm")], "stream_truncated"),
    "length": ([Say("Once", finish="length", cut_calls=1)], "length"),
    "rounds": ([*(Call("find", {"article": str(n)}) for n in range(2)), Say("Enough.")], "maxRounds"),
}


@pytest.mark.parametrize("fake", [False, True])
@pytest.mark.parametrize("name", ENDS)
async def test_every_end_that_a_script_can_bring_about_is_played_again(tmp_path: Path, name: str, fake: bool) -> None:
    steps, finish = ENDS[name]
    async with folder(tmp_path, *steps, limits={"maxRounds": 2}) as there:
        assert (await replay(there.runtime, "clerk", "Go")).finish == finish
        source = await record(there.runtime, await there.run_id(), fake_tools=fake)
        await played(source)
    assert f'replayed.finish == "{finish}"' in source


@pytest.mark.parametrize("capable", [True, False])
async def test_an_answer_that_must_fit_a_schema_is_played_again(tmp_path: Path, capable: bool) -> None:
    models = [{"prefix": "", "baseUrl": "http://127.0.0.1:9", "capabilities": {"jsonSchema": capable}}]
    bad, good = (
        (Say('{"n": "x"}'), Say('{"n": 1}'))
        if capable
        else (Call("final_answer", {"n": "x"}), Call("final_answer", {"n": 1}))
    )
    async with folder(tmp_path, bad, good, models=models, defaultModel="m") as there:
        replayed = await replay(there.runtime, "clerk", "Count", output_schema=SCHEMA)
        assert (replayed.text, replayed.finish) == ('{"n":1}' if not capable else '{"n": 1}', "stop")
        await played(await record(there.runtime, await there.run_id()))


async def test_an_agent_of_ones_own_is_played_again(tmp_path: Path) -> None:
    async with folder(tmp_path, Say("cup"), Say("dear")) as there:
        await replay(there.runtime, "porter", "What?")
        run_id = await there.run_id()
        source = await record(there.runtime, run_id)
        assert "1 passed" in await there.tested(source)
        with pytest.raises(InvalidRequest, match="leave fake tools out"):
            await record(there.runtime, run_id, fake_tools=True)
        (tmp_path / "finds.py").write_text("from shop import find")
        with pytest.raises(InvalidRequest, match="name its module under plugins"):
            await record(there.runtime, run_id, config={"plugins": ["finds"]})


async def test_what_cannot_be_played_again_is_refused_with_what_to_do(tmp_path: Path) -> None:
    @tool
    def local() -> str:
        """Work here only."""
        return "done"

    gate = asyncio.Event()
    async with folder(tmp_path, Call("local"), Say("Done."), Say("Never", gate=gate)) as there:
        url = there.config["store"]["url"]
        with pytest.raises(NotFound, match="no run 'run_x'"):
            await record(url, "run_x")
        there.runtime.parts.kit.catalog.add_tools([local])
        await replay(there.runtime, "assistant", "Go")
        with pytest.raises(InvalidRequest, match=r"not known here \(local\): name the modules"):
            await record(url, await there.run_id(), config=there.config)
        assert "Fake(" in await record(url, await there.run_id(), config=there.config, fake_tools=True)
        task = asyncio.create_task(replay(there.runtime, "clerk", "Go on"))

        async def begun() -> bool:
            return len(await there.runtime.parts.kit.store.index.find(RUN)) == 2

        await eventually(begun, "the second run")
        run_id = await there.run_id()
        with pytest.raises(InvalidRequest, match="not over"):
            await record(there.runtime, run_id)
        await there.runtime.parts.desk.cancel(Principal(), run_id)
        assert (await task).finish == "cancelled"
        with pytest.raises(InvalidRequest, match="from outside"):
            await record(there.runtime, run_id)


async def test_a_question_that_nobody_decides_fails_the_replay(tmp_path: Path) -> None:
    async with folder(tmp_path, Call("refund", REFUND), Say("Done.")) as there:
        with pytest.raises(AssertionError, match="nobody decides about the call refund"):
            await replay(there.runtime, "clerk", "My cup!")


async def test_known_secrets_and_what_looks_like_one_are_masked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "environment-value")
    key = "s" + "k-" + "a1B2" * 6
    async with folder(tmp_path, Say(f"{key} {SECRET} environment-value Bearer abc.def-ghi_jkl")) as there:
        await replay(there.runtime, "clerk", f"I say {SECRET}")
        source = await record(there.runtime, await there.run_id(), secrets={"mine": SECRET})
    assert "[masked] [masked] [masked] Bearer [masked]" in source
    assert [each for each in (key, SECRET, "environment-value", "abc.def-ghi_jkl") if each in source] == []


@pytest.mark.parametrize("fake", [False, True])
async def test_an_answer_to_a_question_of_the_model_is_given_again(tmp_path: Path, fake: bool) -> None:
    steps = (Call("AskUser", {"question": "Which one?", "choices": ["a", "b"]}), Say("b it is."))
    blue = Decided("AskUser", {"question": "Which one?"}, approve=True, answer="b, please")
    async with folder(tmp_path, *steps) as there:
        await replay(there.runtime, "assistant", "Go", decisions=[blue])
        source = await record(there.runtime, await there.run_id(), fake_tools=fake)
        await played(source)
    assert 'answer="b, please"' in source
