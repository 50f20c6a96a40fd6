"""The tools for code, as a deployment with sandboxes has them."""

from typing import Any

from talaria.tools.builtin.background import Background, background_tools
from talaria.tools.builtin.bash import bash_tool
from talaria.tools.builtin.edit import edit_tool
from talaria.tools.builtin.export import EXPORT
from talaria.tools.builtin.read import read_tool
from talaria.tools.builtin.search import search_tools
from talaria.tools.builtin.write import WRITE
from talaria.tools.declaration import Tool

CODE_TOOLS = frozenset(
    ("Bash", "BashOutput", "KillBash", "Read", "Write", "Edit", "Glob", "Grep", "ExportArtifact"),
)
"""Their names."""


def code_tools(
    background: Background, *, timeout: float, result_limit: int, reaches_out: bool
) -> tuple[Tool[..., Any], ...]:
    """Make the tools: groups `code` (Bash and its like) and `files`.

    `background` knows what runs beside the turns. `timeout`: seconds that a command has where the model says nothing.
    `result_limit`: characters. `reaches_out`: whether commands reach anything outside the sandbox; then they act
    outside, and what comes from there is of outside origin.
    """
    return (
        bash_tool(background, timeout, reaches_out=reaches_out),
        *background_tools(background, reaches_out=reaches_out),
        read_tool(result_limit, reaches_out=reaches_out),
        WRITE,
        edit_tool(),
        *search_tools(reaches_out=reaches_out),
        EXPORT,
    )
