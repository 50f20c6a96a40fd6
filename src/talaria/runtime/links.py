"""Links that decide: whoever has one may decide one question, once, as the person it was made for."""

from hashlib import sha256
from secrets import token_urlsafe

import msgspec

from talaria.core.errors import NotFound
from talaria.core.ids import SessionKey
from talaria.core.principal import Principal
from talaria.journal.index import APPROVAL, ApprovalRow
from talaria.notify.notice import Asked, visible
from talaria.ports.journal import Drop, Put
from talaria.runtime.deciders import Deciders
from talaria.runtime.desk import Decision, Desk
from talaria.runtime.kit import Kit

LINK = "link"
PATH = "/ai-api/decide/"
KEPT = 24 * 3600 * 1000
"""Ms after its end for which a link is told from one that never was."""
EVERY = 600.0
BATCH = 1_000


class LinkRow(msgspec.Struct, frozen=True, gc=False):
    """What a link decides, and as whom. Its key is the digest of the token: the store cannot say what the token is.

    `is_named`: the configuration named them as approver; else they are the run's own user.
    """

    request_id: str
    principal: Principal
    is_named: bool = False


class LinkOver(NotFound):
    """The question of this link is no longer open."""


_encode = msgspec.json.Encoder().encode
_link = msgspec.json.Decoder(LinkRow).decode
_approval = msgspec.json.Decoder(ApprovalRow).decode


class Links:
    """Makes links, reads them, and decides through them."""

    def __init__(self, kit: Kit, desk: Desk) -> None:
        self._store = kit.store
        self._clock = kit.clock
        self._secrets = kit.secrets
        self._desk = desk
        self._deciders = Deciders(kit.settings.approval)
        self._public = kit.settings.server.public_url
        named = [each.approver for each in kit.settings.notify if each.approver is not None]
        self._approvers = [(each.user, tuple(each.roles)) for each in named]

    async def asked(self, request_id: str) -> Asked | None:
        """What an open question asks, without the run's secrets; None if it is decided, or its time is up."""
        row = await self._store.index.get(APPROVAL, request_id)
        if row is None or row.at <= self._clock.now() or await self._store.inbox.get(request_id) is not None:
            return None
        data = _approval(row.data)
        redactor = await self._secrets.redactor(data.run, SessionKey.parse(row.session).tenant)
        return Asked(data.call_id, data.name, visible(redactor.mask(data.arguments)), data.expires_at)

    async def make(self, expires_at: int, link: LinkRow, key: SessionKey) -> str:
        """Return a new address at which this may be decided; `key` is the session of the question.

        It is "" where there is no public address, or they may not decide: a link could only disappoint.
        """
        if self._public is None or not self._deciders.may_decide(link.principal, key, for_user=False):
            return ""
        token = token_urlsafe(32)
        row = Put(LINK, _digest(token), "", "", expires_at, _encode(link))
        await self._store.index.put([row])
        return f"{self._public}{PATH}{token}"

    async def read(self, token: str) -> tuple[LinkRow, Asked]:
        """What a link decides.

        Raises:
            NotFound: there is no such link; LinkOver: its question is not open any more.
        """
        row = await self._store.index.get(LINK, _digest(token))
        if row is None:
            raise NotFound("there is no such link")
        link = _link(row.data)
        asked = await self.asked(link.request_id)
        if asked is None or not self._is_in_force(link):
            raise LinkOver("this link is over")
        return link, asked

    async def decide(self, token: str, *, approve: bool) -> str:
        """Decide; return the outcome in force. Of several at once the first is.

        Raises:
            NotFound: there is no such link, or it was made for somebody who may not decide.
            LinkOver: its question is not open any more.
            Conflict: somebody decided otherwise at this moment.
        """
        link, _ = await self.read(token)
        view = await self._desk.decide(link.principal, Decision(link.request_id, approve, via="link"))
        return str(view["decision"])

    def _is_in_force(self, link: LinkRow) -> bool:
        """Whether an approver that it was made for is still named, with the same roles."""
        return not link.is_named or (link.principal.user, link.principal.roles) in self._approvers

    async def watch(self) -> None:
        """Forget links that have long been over, for ever."""
        while True:
            while old := await self._store.index.due(LINK, self._clock.now() - KEPT, BATCH):
                await self._store.index.put([Drop(LINK, row.key) for row in old])
            await self._clock.sleep(EVERY)


def _digest(token: str) -> str:
    return sha256(token.encode(errors="replace")).hexdigest()
