"""The room of one model call under the quotas of its run: taken before each attempt, settled once."""

from talaria.core.usage import Usage
from talaria.ports.model import ModelRequest
from talaria.quotas.quotas import Hold, RunQuota


class Room:
    """Does nothing where a run has no quota."""

    __slots__ = ("_holds", "_quota")

    def __init__(self, quota: RunQuota | None) -> None:
        self._quota = quota
        self._holds: tuple[Hold, ...] = ()

    def capped(self, request: ModelRequest) -> ModelRequest:
        """The request, with an end to its answer where that must be known."""
        return request if self._quota is None else self._quota.capped(request)

    async def take(self, request: ModelRequest) -> None:
        """Take room for one attempt more: what those before it took is spent.

        Raises:
            QuotaExceeded: there is none.
        """
        if self._quota is not None:
            self._holds += (await self._quota.reserve(request),)

    async def settle(self, usage: Usage | None) -> None:
        """Count what all attempts used; None: nobody knows, so they used all that was taken."""
        if usage is None:
            return
        for at, hold in enumerate(self._holds):
            await hold.settle_model(usage if at == 0 else Usage())
