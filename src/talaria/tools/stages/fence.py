"""Fence: what a tool says that comes from outside is handed to the model as data.

It stands next to the tool's body: only what that said is fenced, never the harness's own words.
"""

import secrets

import msgspec

from talaria.core.untrusted import fenced, marks
from talaria.tools.chain import CallContext, Proceed, ToolOutcome
from talaria.tools.recall import is_recall


async def fence(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """Fence results, and errors, of tools that are `untrusted`; of recall once anything untrusted may be read with it.

    What a memory says is fenced, too: as untrusted where it was written after content from outside, or reads so.
    Known patterns of attack are told to the model and audited; they block nothing.
    """
    done = await proceed(context)
    tool, run = context.tool, context.run
    is_outside = context.untrusted or tool.untrusted or (run.state.untrusted and is_recall(tool))
    if not (is_outside or context.is_data):
        return done
    found = marks(done.text)
    context.untrusted = is_outside or bool(found)
    if found:
        context.audit("untrusted", "marked", detail=f"result: {', '.join(found)}")
    return msgspec.structs.replace(done, text=fenced(done.text, tool.name, secrets.token_hex(8), found))
