"""The plans: every boundary once, every step of recovery after several deaths, and seeded ones that mix everything."""

import random
import signal
from collections.abc import Callable

import msgspec

from tests.crash.boundaries import RECOVERY, boundaries
from tests.crash.client import Manners
from tests.crash.points import Kill
from tests.crash.trial import Plan

CUT_SHORT = (
    Kill("tool.after.charge"),
    Kill("tool.after.ship"),
    Kill("tool.before.label"),
    Kill("append.durable.approval_requested.refund"),
    Kill("model.delta", 200),
)
"""First deaths that leave recovery something to do."""

MIXED, STOPPED, LEFT = 60, 40, 20


def plans() -> list[Plan]:
    """All plans with SIGKILL, the same in every process."""
    kills: list[tuple[Kill, ...]] = [(kill,) for kill in boundaries()]
    kills += [(CUT_SHORT[at % len(CUT_SHORT)], kill) for at, kill in enumerate(RECOVERY)]
    kills += [(first, Kill("append.durable.run_resumed.recovered"), Kill("journal.read")) for first in CUT_SHORT]
    planned = [Plan(seed, each, _manners(seed), seed % 4 == 3) for seed, each in enumerate(kills, 1)]
    return planned + [_mixed(1000 + number) for number in range(MIXED)]


def stops() -> list[Plan]:
    """Plans in which servers are told to stop, with and without time to finish."""
    return [_stopped(2000 + number) for number in range(STOPPED)]


def departures() -> list[Plan]:
    """Plans in which only clients die."""
    return [_left(3000 + number) for number in range(LEFT)]


def plain(plan: Plan) -> Plan:
    """The same plan with a client under which every boundary is reached."""
    return msgspec.structs.replace(plan, manners=Manners())


def _manners(seed: int) -> Manners:
    """Manners under which a single planned kill is (nearly always) reached."""
    chance = random.Random(seed)
    return Manners(edits=_maybe(chance), reruns=_maybe(chance), queues=chance.random() < 0.2)


def _mixed(seed: int) -> Plan:
    chance = random.Random(seed)
    known = boundaries()
    kinds: tuple[Callable[[], Kill], ...] = (
        lambda: chance.choice(known),
        lambda: msgspec.structs.replace(chance.choice(known), nth=1),
        lambda: chance.choice(RECOVERY),
        lambda: Kill("moment", chance.randrange(1, 150)),
        lambda: Kill("model.delta", chance.randrange(1, 375)),
    )
    kills = tuple(chance.choice(kinds)() for _ in range(chance.randrange(1, 4)))
    return Plan(seed, kills, _any_manners(chance), _maybe(chance))


def _any_manners(chance: random.Random) -> Manners:
    return Manners(
        edits=_maybe(chance),
        patient=_maybe(chance),
        kills_parked=chance.random() < 0.3,
        reruns=_maybe(chance),
        queues=_maybe(chance),
        leaves=_leaves(chance) if _maybe(chance) else (),
        repeats=_maybe(chance),
    )


def _stopped(seed: int) -> Plan:
    chance = random.Random(seed)
    stop = chance.choice([kill for kill in boundaries() if not kill.point.startswith("start.")])
    grace = 2.0 if seed % 2 else 0.0
    kill = msgspec.structs.replace(stop, signal=signal.SIGTERM)
    return Plan(seed, (kill,), _any_manners(chance), _maybe(chance), grace)


def _left(seed: int) -> Plan:
    chance = random.Random(seed)
    manners = msgspec.structs.replace(_any_manners(chance), kills_parked=False, leaves=_leaves(chance), repeats=True)
    return Plan(seed, (), manners)


def _leaves(chance: random.Random) -> tuple[int, ...]:
    return tuple(sorted(chance.randrange(1, 420) for _ in range(chance.randrange(1, 12))))


def _maybe(chance: random.Random) -> bool:
    return chance.random() < 0.5
