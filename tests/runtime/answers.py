"""Answers with a schema: the settings of both ways to give them, and what clients have of one in the end."""

from typing import Any

from talaria import ChatEvent
from talaria.core.events import Position, write_position
from talaria.live.frames import Frame
from tests.runtime.world import (
    ME,
    World,
    bounded,
)

TOTAL: dict[str, Any] = {
    "type": "object",
    "properties": {"total": {"type": "integer"}},
    "required": ["total"],
    "additionalProperties": False,
}
ROUTE: dict[str, Any] = {"prefix": "", "baseUrl": "http://model.test/v1"}
NATIVE: dict[str, Any] = {"models": [ROUTE], "defaultModel": "gpt-x"}
BY_TOOL: dict[str, Any] = {"models": [ROUTE | {"capabilities": {"jsonSchema": False}}], "defaultModel": "gpt-x"}
GOOD = '{"total": 7}'


def shown(received: list[tuple[str, ChatEvent]]) -> str:
    """The text that a client has, each event with its id, once it did what rewinds say."""
    kept: list[tuple[str, str]] = []
    for place, event in received:
        if event.type == "rewind":
            targets = [at for at, (other, _) in enumerate(kept) if other == event.data]
            assert targets, f"{event.data} was never received"
            kept = [*kept[: targets[0] + 1], *((other, "") for other, _ in kept[targets[0] + 1 :])]
        kept.append((place, str(event.data) if event.type == "token" else ""))
    return "".join(text for _, text in kept)


async def frames(here: World, run_id: str, after: Position = (0, 0, 0, 0)) -> list[Frame]:
    key = await here.parts.lookup.place(ME, run_id)
    return [frame async for batch in here.parts.lookup.follow(run_id, key, after) for frame in batch]


def placed(run_id: str, given: list[Frame]) -> list[tuple[str, ChatEvent]]:
    return [
        (f"{run_id}/{write_position(frame.position)}", frame.event) for frame in given if frame.position is not None
    ]


async def assert_every_way_shows(here: World, run_id: str, text: str) -> None:
    """Whoever comes back with any id has this text in the end, and every event once."""
    whole = await bounded(frames(here, run_id))
    assert shown(placed(run_id, whole)) == text
    for at, frame in enumerate(whole):
        if frame.position is not None:
            rest = await bounded(frames(here, run_id, frame.position))
            assert shown(placed(run_id, [*whole[: at + 1], *rest])) == text
