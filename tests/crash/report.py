"""What a failed trial tells: all that is needed to see it, and to run it again."""

from pathlib import Path

import msgspec

from tests.crash.evidence import Stored, effects_in, read_store
from tests.crash.points import read_points
from tests.crash.server import LOG, REACHED
from tests.crash.trial import Outcome, Plan

LONGEST = 400


def report(outcome: Outcome, faults: list[str]) -> str:
    """The report of a trial that came to its end."""
    deaths = [f"{death.kill} → {death.status}, {len(death.stored.entries)} entries" for death in outcome.deaths]
    lines = [str(outcome.plan), *faults, "DEATHS", *deaths, "JOURNAL", *dump(outcome.stored)]
    lines += ["EFFECTS", *map(str, outcome.effects)]
    for name, transcript in outcome.transcripts.items():
        lines += [f"RECEIVED {name}", *transcript.received]
    return "\n".join(line[:LONGEST] for line in lines)


def unfinished(plan: Plan, folder: Path, error: BaseException) -> str:
    """The report of a trial that did not come to its end."""
    lines = [f"{plan} failed: {error!r}", "JOURNAL", *dump(read_store(folder, folder / "report"))]
    lines += ["EFFECTS", *map(str, effects_in(folder)), "POINTS", *read_points(folder / REACHED)[-40:]]
    log = folder / LOG
    lines += ["LOG", *(log.read_text().splitlines()[-60:] if log.exists() else ())]
    return "\n".join(line[:LONGEST] for line in lines)


def dump(stored: Stored) -> list[str]:
    """The journal, an entry a line; then what waits, and the index."""
    entries = [f"{seq} {msgspec.json.encode(entry).decode()}" for seq, entry in stored.entries]
    return [*entries, f"letters {stored.letters}", f"index {stored.index}", f"integrity {stored.integrity}"]
