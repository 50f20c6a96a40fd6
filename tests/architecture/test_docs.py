"""What the documents show is true: code runs or is shown from a tested file, commands and links exist.

A `python` block either begins with `# file: examples/x.py` (or `…x.py#region`) and shows that file, which a test of
its own runs, or it is run here, in a folder of its own; `await` may stand at its top level. `console` blocks are not
run, but the make targets and scripts they name exist. `yaml` blocks are configurations, `json` blocks can be read. A
`py` block is another library's code, for comparison: it is not run, but it can be parsed.
"""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from talaria.runtime.configure import read_settings
from talaria.runtime.routes import make_routes
from tests.fences import Fence, fences
from tests.repository import ROOT, relative

_READMES = (ROOT / "README.md", ROOT / "README.zh-CN.md")
_GUIDES = (*_READMES, *sorted((ROOT / "docs").rglob("*.md")))
_DOCUMENTS = (*_GUIDES, *(ROOT / name for name in ("AGENTS.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md")))
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!\w+:|#)(?P<target>[^)#\s]+)")
# In the globals of __main__, where tools look up the names that annotations use.
_RUN = """
import ast, asyncio, inspect, sys
code = compile(sys.stdin.read(), sys.argv[1], "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
async def main():
    await eval(code, globals())
asyncio.run(main()) if code.co_flags & inspect.CO_COROUTINE else exec(code, globals())
"""


def blocks(paths: tuple[Path, ...], *languages: str) -> list[Fence]:
    return [fence for path in paths for fence in fences(path) if fence.language in languages]


def place(fence: Fence) -> str:
    return fence.place


@pytest.mark.parametrize("fence", blocks(_GUIDES, "python"), ids=place)
def test_a_python_block_runs_or_shows_a_tested_file(fence: Fence, tmp_path: Path) -> None:
    promised = fence.promised
    if promised is not None:
        assert fence.body.strip() == promised.strip()
        return
    command = (sys.executable, "-c", _RUN, fence.place)
    result = subprocess.run(
        command, cwd=tmp_path, input=fence.code, capture_output=True, text=True, check=False, timeout=50
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("fence", blocks(_DOCUMENTS, "console", "bash", "sh", "shell"), ids=place)
def test_a_console_block_names_targets_and_scripts_that_exist(fence: Fence) -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert fence.language == "console", "commands go into ```console blocks"
    assert set(re.findall(r"\bmake ([a-z][a-z-]*)", fence.code)) - targets == set()
    assert [name for name in re.findall(r"\bscripts/[\w.-]+", fence.code) if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("fence", blocks(_DOCUMENTS, "yaml"), ids=place)
def test_a_yaml_block_is_a_configuration(fence: Fence, tmp_path: Path) -> None:
    path = tmp_path / "talaria.yaml"
    path.write_text(fence.code, "utf-8")
    variables = dict.fromkeys(re.findall(r"\$\{(\w+)\}", fence.code), "x")
    assert make_routes(read_settings(path, variables).models) is not None


@pytest.mark.parametrize("fence", blocks(_DOCUMENTS, "py"), ids=place)
def test_code_of_another_library_can_be_parsed(fence: Fence) -> None:
    ast.parse(fence.code)


@pytest.mark.parametrize("fence", blocks(_DOCUMENTS, "json"), ids=place)
def test_a_json_block_can_be_read(fence: Fence) -> None:
    json.loads(fence.code)


@pytest.mark.parametrize("path", _DOCUMENTS, ids=relative)
def test_relative_links_lead_somewhere(path: Path) -> None:
    targets = [found["target"] for found in _LINK.finditer(path.read_text("utf-8"))]
    assert [target for target in targets if not (path.parent / target).exists()] == []


def test_both_readmes_show_the_same_code() -> None:
    english, chinese = ([(fence.language, fence.code) for fence in fences(path)] for path in _READMES)
    assert english == chinese


def test_both_readmes_have_the_same_sections() -> None:
    english, chinese = (
        re.findall(r"^(#+|\| ---.*|- \*\*) ?", _FENCED.sub("", path.read_text("utf-8")), re.MULTILINE)
        for path in _READMES
    )
    assert english == chinese


def test_agents_md_has_at_most_100_lines() -> None:
    assert len((ROOT / "AGENTS.md").read_text("utf-8").splitlines()) <= 100
