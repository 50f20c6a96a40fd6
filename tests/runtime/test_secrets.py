"""Secrets reach tools and nothing else."""

from pathlib import Path
from typing import Any

import structlog
from structlog.contextvars import merge_contextvars

from talaria import StopRun, ToolContext, tool
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.world import end_of, world

SECRET = "p@ss w0rd/+=" + "\N{SNOWMAN}"
FORMS = ["p@ss w0rd/+=\N{SNOWMAN}", "p%40ss%20w0rd%2F%2B%3D%E2%98%83", "cEBzcyB3MHJkLys94piD"]


def files_below(folder: Path) -> list[bytes]:
    return [file.read_bytes() for file in folder.rglob("*") if file.is_file()]


async def test_a_secret_is_masked_wherever_it_leaves_a_tool(tmp_path: Path) -> None:
    seen: list[str] = []

    @tool
    async def leak(ctx: ToolContext) -> dict[str, Any]:
        """Leak."""
        seen.append(ctx.secrets["apiKey"])
        return {"key": ctx.secrets["apiKey"], "url": f"https://u:{FORMS[1]}@h/", "basic": FORMS[2]}

    @tool
    async def fail(ctx: ToolContext) -> str:
        """Fail."""
        raise ValueError(f"401 for {ctx.secrets['apiKey']}")

    class Odd:
        def __init__(self, secret: str) -> None:
            self.secret = secret

        def model_dump(self, **_: Any) -> Any:
            raise ValueError(f"cannot write {self.secret}")

    @tool
    async def odd(ctx: ToolContext) -> Any:
        """Be odd."""
        return Odd(ctx.secrets["apiKey"])

    @tool
    async def stop(ctx: ToolContext) -> str:
        """Stop."""
        raise StopRun(f"stopped by {ctx.secrets['apiKey']}")

    calls = (Call("leak"), Call("fail"), Call("odd"))
    model = ScriptedModel(Say(calls=calls), Call("stop"))
    path = tmp_path / "secrets.db"
    transcripts = tmp_path / "transcripts"
    with structlog.testing.capture_logs(processors=[merge_contextvars]) as logs:
        async with world(
            model,
            tools=[leak, fail, odd, stop],
            store=f"sqlite:///{path}",
            telemetry={"transcripts": str(transcripts)},
        ) as here:
            events = await here.ask(tool_context={"apiKey": SECRET, "pin": "1234"})
            assert end_of(events) == ("error", "tool_failed")
            assert len(here.parts.kit.secrets) == 0
    assert seen == [SECRET]
    written = files_below(tmp_path)
    assert len(written) > 5
    everything = [str(events), str(logs), str(model.prompts), *(data.decode("utf-8", "replace") for data in written)]
    for form in FORMS:
        assert [at for at, text in enumerate(everything) if form in text] == []
    assert "[masked]" in str(events)
    assert {"names": ["pin"]}.items() <= next(log for log in logs if log["event"] == "secrets_too_short").items()


async def test_secrets_of_a_request_that_was_not_admitted_are_forgotten() -> None:
    async with world(ScriptedModel(Say("Once."))) as here:
        first = await here.submit(idempotency_key="k", tool_context={"apiKey": SECRET})
        again = await here.submit(idempotency_key="k", tool_context={"apiKey": SECRET})
        assert first.run_id == again.run_id
        await here.events(first.run_id)
        assert len(here.parts.kit.secrets) == 0
