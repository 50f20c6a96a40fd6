"""The notifier: rings the couriers when there is something to tell, and makes the notices that they deliver."""

from collections.abc import Iterable, Sequence

from talaria.core.errors import ConfigurationError
from talaria.core.ids import SessionKey
from talaria.core.principal import Principal
from talaria.journal.entries import AnyEntry
from talaria.notify.courier import Courier
from talaria.notify.notice import Notice, NoticeRow
from talaria.notify.outbox import told
from talaria.notify.target import Approver, Target
from talaria.ports.model import Transport
from talaria.runtime.index_rows import count_rows
from talaria.runtime.kit import Kit
from talaria.runtime.links import LinkRow, Links
from talaria.runtime.notify_settings import NotifySettings
from talaria.tools.nearest import suggestion


class Notifier:
    """The couriers of all targets."""

    def __init__(self, kit: Kit, targets: Sequence[Target], transport: Transport, links: Links) -> None:
        self._index = kit.store.index
        self._transport = transport
        self._links = links
        self.couriers = [
            Courier(target, kit.store.index, kit.clock, kit.metrics, transport, self._notice) for target in targets
        ]

    def watch(self, placed: Sequence[tuple[int, AnyEntry]]) -> None:
        """Entries have become durable, and with them the deliveries that they make."""
        if any(told(entry) for _, entry in placed):
            for courier in self.couriers:
                courier.ring()

    async def waiting(self) -> dict[int, int]:
        """How many deliveries wait, by the number of their target."""
        return {each.target.number: await count_rows(self._index, each.target.kind) for each in self.couriers}

    async def close(self) -> None:
        """Close all connections."""
        await self._transport.close()

    async def _notice(self, target: Target, id_: str, row: NoticeRow) -> Notice | None:
        if not row.request_id:
            return Notice(id_, row)
        asked = await self._links.asked(row.request_id)
        if asked is None:
            return None
        link = ""
        if row.event == "approval_request":
            key = SessionKey.parse(row.session)
            made_for = LinkRow(row.request_id, _decider(target, row, key), target.approver is not None)
            link = await self._links.make(asked.expires_at, made_for, key)
        return Notice(id_, row, asked, link)


def make_targets(settings: Sequence[NotifySettings], agents: Iterable[str], approvers: Sequence[str]) -> list[Target]:
    """Return the targets of the configuration; `agents` are the names there are, `approvers` the roles that decide.

    Raises:
        ConfigurationError: an agent is named that there is not, a target stands there twice, or its links could
            decide nothing.
    """
    targets: dict[str, Target] = {}
    for number, each in enumerate(settings):
        names = list(agents)
        for at, name in enumerate(each.agents or ()):
            if name not in names:
                raise ConfigurationError(
                    f"notify[{number}].agents[{at}]: there is no agent '{name}'{suggestion(name, names)}"
                )
        if approvers and each.approver is not None and not set(approvers) & set(each.approver.roles):
            raise ConfigurationError(
                f"notify[{number}].approver.roles: none of them is in approval.approvers ({', '.join(approvers)}), "
                "so its links could decide nothing; name one"
            )
        target = _target(number, each)
        first = targets.setdefault(target.id, target)
        if first is not target:
            raise ConfigurationError(f"notify[{number}] has the url of notify[{first.number}]; put both into one")
    return list(targets.values())


def _target(number: int, each: NotifySettings) -> Target:
    return Target(
        number,
        frozenset(each.on),
        each.format,
        each.url,
        each.secret,
        None if each.agents is None else frozenset(each.agents),
        None if each.approver is None else Approver(each.approver.user, tuple(each.approver.roles)),
    )


def _decider(target: Target, row: NoticeRow, key: SessionKey) -> Principal:
    """Whom the link is for: the approver that is named, within the run's tenant, or the run's own user."""
    approver = target.approver
    if approver is not None:
        return Principal(key.tenant, approver.user, approver.roles)
    return Principal(key.tenant, key.user, row.roles)
