"""Read, Write, Edit, Glob, Grep and ExportArtifact, in a real sandbox."""

import asyncio
import zlib
from dataclasses import replace
from typing import Any

import pytest

from talaria.core.ids import SessionKey
from talaria.core.messages import Image, ToolMessage
from talaria.core.principal import Principal
from talaria.journal.state import SessionState
from talaria.ports.sandbox import Command, Exited
from talaria.sandbox.agent_sandbox import AgentSandbox
from talaria.tools.builtin import read
from talaria.tools.result import Pictured
from talaria.tools.session import Session
from tests.tools.builtin.conftest import Bench, Kept
from tests.tools.builtin.pictures import pdf, png

pytestmark = pytest.mark.service("bwrap")


async def test_what_was_written_is_read_and_edited(bench: Bench) -> None:
    assert (
        await bench("Write", file_path="a/b.py", content="x = 1\ny = 2\n")
        == "Wrote /workspace/a/b.py: 2 lines, 12 bytes."
    )
    assert await bench("Read", file_path="/workspace/a/b.py") == "     1\tx = 1\n     2\ty = 2"
    said = await bench("Edit", file_path="a/b.py", old_string="y = 2", new_string="y = 3")
    assert said == "Edited /workspace/a/b.py: replaced:\n     1\tx = 1\n     2\ty = 3\n     3\t"
    assert (await bench.bash("cat a/b.py")).startswith("x = 1\ny = 3\n")
    assert await bench("Write", file_path="a/b.py", content="") == "Wrote /workspace/a/b.py: 0 lines, 0 bytes."
    assert await bench("Read", file_path="a/b.py") == "[the file is empty]"


async def test_an_edit_that_is_refused_changes_nothing(bench: Bench) -> None:
    await bench("Write", file_path="f", content="a\na\n")
    assert "2 times, in lines 1, 2" in await bench("Edit", file_path="f", old_string="a", new_string="b")
    assert "nothing like it" in await bench("Edit", file_path="f", old_string="zzzz", new_string="b")
    assert (await bench.bash("cat f; ls -a")).startswith("a\na\n.\n..\nf\n")


async def test_a_file_that_is_not_there_is_told_with_one_that_is_like_it(bench: Bench) -> None:
    await bench("Write", file_path="data/sales.csv", content="1")
    assert "did you mean 'sales.csv'?" in await bench("Read", file_path="data/sale.csv")
    assert (await bench("Edit", file_path="nothing/x", old_string="a", new_string="b")).startswith("NotFound")
    assert (await bench("Read", file_path="data")).startswith("InvalidRequest")


async def test_long_files_are_read_page_by_page(bench: Bench) -> None:
    await bench("Write", file_path="f", content="".join(f"line {n}\n" for n in range(1, 5001)))
    first = await bench("Read", file_path="f")
    assert first.startswith("     1\tline 1\n")
    last = int(first.rpartition("offset=")[2].rstrip("]"))
    assert f"[lines 1 to {last - 1} of 5000; go on with offset={last}]" in first
    assert len(first) <= 20_000
    assert (await bench("Read", file_path="f", offset=last)).startswith(f"{last:>6}\tline {last}\n")
    assert await bench("Read", file_path="f", offset=4999, limit=2) == "  4999\tline 4999\n  5000\tline 5000"
    assert "the file has 5000 lines" in await bench("Read", file_path="f", offset=6000)


async def test_long_lines_are_cut(bench: Bench) -> None:
    await bench("Write", file_path="f", content="x" * 5000 + "\nend")
    assert (
        await bench("Read", file_path="f") == f"     1\t{'x' * 2000}[… 3000 more characters in this line]\n     2\tend"
    )


async def test_files_of_chinese_windows_are_read_and_stay_as_they_are(bench: Bench) -> None:
    await bench.sandbox.write("f.csv", "产品,销量\r\n苹果,十二\r\n".encode("gbk"))
    said = await bench("Read", file_path="f.csv")
    assert said == "     1\t产品,销量\n     2\t苹果,十二\n[not in UTF-8; read as GB18030]"
    await bench("Edit", file_path="f.csv", old_string="产品,销量\n苹果", new_string="产品,销量\n梨")
    assert await bench.sandbox.read("f.csv") == "产品,销量\r\n梨,十二\r\n".encode("gbk")


async def test_pictures_are_pictures_if_they_really_are(bench: Bench) -> None:
    await bench.sandbox.write("chart.png", png(3, 2))
    shown = await bench.use("Read", file_path="chart.png")
    assert isinstance(shown, Pictured)
    assert shown.text.startswith("The picture /workspace/chart.png (image/png, 3 x 2 pixels, ")
    assert [image.media_type for image in shown.images] == ["image/png"]
    await bench.sandbox.write("broken.png", png()[:-8])
    assert "cannot be shown" in await bench("Read", file_path="broken.png")


async def test_a_conversation_with_very_many_pictures_gets_no_more(bench: Bench) -> None:
    await bench.sandbox.write("chart.png", png())
    big = Image("image/png", "A" * read.SHOWN)
    state = SessionState(SessionKey("default", "anonymous", "-", "s-1"))
    state.prompt.messages.append(ToolMessage("c", "Read", "", images=(big,)))
    bench.context = replace(bench.context, session=Session(state, Principal()))
    assert "too many pictures" in await bench("Read", file_path="chart.png")


async def test_a_pdf_is_read_as_text(bench: Bench) -> None:
    await bench.sandbox.write("f.pdf", pdf("Hello there", "Second page", "Third page"))
    said = await bench("Read", file_path="f.pdf", limit=2)
    assert said == "[page 1 of 3]\nHello there\n\n[page 2 of 3]\nSecond page\n\n[go on with offset=3]"
    assert await bench("Read", file_path="f.pdf", offset=3) == "[page 3 of 3]\nThird page"
    assert "has 3 pages" in await bench("Read", file_path="f.pdf", offset=4)
    await bench.sandbox.write("scan.pdf", pdf("", ""))
    assert "have no text" in await bench("Read", file_path="scan.pdf")


async def test_a_hostile_pdf_is_refused_in_time(bench: Bench) -> None:
    bomb = zlib.compress(zlib.compress(bytes(200_000_000), 9), 9)
    whole = pdf("BOMB")
    stream = b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n%s\nendstream" % (len(bomb), bomb)
    begin, end = whole.index(b"4 0 obj\n") + 8, whole.index(b"\nendobj", whole.index(b"4 0 obj\n"))
    for data in (whole[:begin] + stream + whole[end:], b"%PDF-1.7\n" + b"[" * 100_000, b"%PDF-1.7\nnothing"):
        await bench.sandbox.write("f.pdf", data)
        async with asyncio.timeout(45):
            said = await bench("Read", file_path="f.pdf")
        assert "cannot be read" in said or "takes longer" in said or "have no text" in said


async def test_binary_is_said_to_be_binary(bench: Bench) -> None:
    await bench.sandbox.write("f.zip", b"PK\x03\x04" + bytes(100))
    said = await bench("Read", file_path="f.zip")
    assert said.startswith("[/workspace/f.zip is binary (a zip archive, or an office document, 104 bytes)")
    assert "binary" in await bench("Edit", file_path="f.zip", old_string="PK", new_string="x")


class Tampered:
    """A sandbox whose python3 somebody has replaced."""

    def __init__(self, sandbox: AgentSandbox) -> None:
        self._sandbox = sandbox

    async def exec(self, command: Command, output: object = None) -> Exited:
        argv = ["/workspace/bin/python3", *command.argv[1:]]
        return await self._sandbox.exec(replace(command, argv=argv))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sandbox, name)


OUTSIDE = (
    "/etc/passwd",
    "../../etc/passwd",
    "link",
    "folder/passwd",
    "/proc/self/environ",
    "/dev/zero",
    "/workspace/../etc/passwd",
)


@pytest.mark.parametrize("path", OUTSIDE)
async def test_nothing_outside_the_workspace_is_reached(bench: Bench, path: str) -> None:
    await bench.bash("ln -s /etc/passwd link; ln -s /etc folder")
    for said in (
        await bench("Read", file_path=path),
        await bench("Write", file_path=path, content="x"),
        await bench("Edit", file_path=path, old_string="root", new_string="x"),
        await bench("Grep", pattern="root", path=path),
        await bench("Glob", pattern="*", path=path),
    ):
        assert "Wrote /etc" not in said
        assert "root:" not in said
        if not (path == "link" and said.startswith("Wrote")):  # the link itself is replaced
            assert said.startswith(("InvalidRequest", "NotFound")), said


@pytest.mark.parametrize("made", ["mkfifo f", "mkdir f"])
async def test_what_is_no_file_is_refused_at_once(bench: Bench, made: str) -> None:
    await bench.bash(made)
    async with asyncio.timeout(20):
        assert (await bench("Read", file_path="f")).startswith("InvalidRequest")
        assert (await bench("Edit", file_path="f", old_string="a", new_string="b")).startswith("InvalidRequest")
        assert (await bench("Write", file_path="f", content="x")).startswith("InvalidRequest")
        assert await bench("Grep", pattern="a") == "[nothing is found]"


async def test_files_are_found_by_name_the_newest_first(bench: Bench) -> None:
    await bench.bash(
        "mkdir -p src/deep .git node_modules/x; touch -d 2020-01-01 src/a.py; touch -d 2021-01-01 src/deep/b.py;"
        "touch -d 2022-01-01 c.ts 'd [1].js'; touch .git/x.py node_modules/x/y.py; ln -s / src/root"
    )
    assert await bench("Glob", pattern="*.py") == "/workspace/src/deep/b.py\n/workspace/src/a.py"
    assert await bench("Glob", pattern="src/*.py") == "/workspace/src/a.py"
    assert await bench("Glob", pattern="/workspace/src/**/b.py") == "/workspace/src/deep/b.py"
    assert await bench("Glob", pattern="**/*.{ts,py}", path="src") == "/workspace/src/deep/b.py\n/workspace/src/a.py"
    assert await bench("Glob", pattern="d [[]1].js") == "/workspace/d [1].js"
    assert await bench("Glob", pattern="*.rs") == "[no file fits]"
    assert await bench("Glob", pattern="{a,{b") == "[no file fits]"
    assert "there is no nowhere" in await bench("Glob", pattern="*", path="nowhere")
    await bench.bash("mkdir many; cd many; touch $(seq 150)")
    said = await bench("Glob", pattern="many/*")
    assert said.count("\n/workspace/many/") == 99
    assert said.endswith("[50 more; look for something narrower to see them]")


async def test_text_is_found_in_files(bench: Bench) -> None:
    await bench("Write", file_path="a.py", content="import os\n\ndef Main():\n    pass\n\nMain()\n")
    await bench("Write", file_path="b.txt", content="main\r\nother\r\n")
    await bench.sandbox.write("c.csv", "主要,main\n".encode("gbk"))
    await bench.sandbox.write("d.bin", b"main\0")
    assert sorted((await bench("Grep", pattern="main", ignore_case=True)).split("\n")) == [
        "/workspace/a.py",
        "/workspace/b.txt",
        "/workspace/c.csv",
    ]
    assert await bench("Grep", pattern="Main", glob="*.py", output_mode="count") == "/workspace/a.py:2"
    found = await bench("Grep", pattern=r"def \w+\(", output_mode="content", before=1, after=1)
    assert found == "/workspace/a.py-2-\n/workspace/a.py:3:def Main():\n/workspace/a.py-4-    pass"
    assert await bench("Grep", pattern="主", output_mode="content") == "/workspace/c.csv:1:主要,main"
    assert await bench("Grep", pattern="main$", path="b.txt", output_mode="content") == "/workspace/b.txt:1:main"
    both = await bench("Grep", pattern="import.*?def", multiline=True, output_mode="content")
    assert both == "/workspace/a.py:1:import os\n/workspace/a.py:2:\n/workspace/a.py:3:def Main():"
    assert await bench("Grep", pattern="Main", output_mode="content", head_limit=1, path="a.py") == (
        "/workspace/a.py:3:def Main():\n[1 more; look for something narrower to see them]"
    )
    assert "no regular expression" in await bench("Grep", pattern="(")


async def test_a_search_without_end_is_ended(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("talaria.tools.builtin.search.SECONDS", 1.0)
    await bench("Write", file_path="f", content="a" * 60 + "\n")
    assert "takes longer than 1 s" in await bench("Grep", pattern="(a+)+b")


@pytest.mark.parametrize(
    "said", ["", "[]", '{"lines": "x"}', '{"lines": [1], "all": 1}', '{"lines": ["\\udcff"]}', "[" * 100_000, "\\xff"]
)
async def test_a_search_that_was_tampered_with_is_told_as_failed(bench: Bench, said: str) -> None:
    lies = f"#!/bin/sh\nprintf '%b' '{said}'\n"
    await bench("Write", file_path="bin/python3", content=lies)
    await bench.bash("chmod +x bin/python3")
    bench.context = replace(bench.context, sandbox=Tampered(bench.sandbox))
    assert "the search failed in the sandbox" in await bench("Grep", pattern="x")


async def test_a_file_is_handed_to_the_user(bench: Bench) -> None:
    kept = Kept()
    bench.context = replace(bench.context, keep=kept)
    await bench.bash("mkdir out; head -c 3000000 /dev/urandom >out/report.bin")
    said = await bench("ExportArtifact", file_path="out/report.bin")
    assert said.startswith("The user has report.bin now (")
    assert len(kept.files["report.bin"]) == 3_000_000
    await bench("ExportArtifact", file_path="out/report.bin", name="报告.bin")
    assert "报告.bin" in kept.files
    assert (await bench("ExportArtifact", file_path="/etc/passwd")).startswith("InvalidRequest")
    assert (await bench("ExportArtifact", file_path="nothing")).startswith("NotFound")
