"""The machine's clock."""

import asyncio
import time
from datetime import tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import tzlocal

from talaria.core.errors import ConfigurationError


class SystemClock:
    """Time as the machine tells it."""

    def __init__(self, zone: str | None = None) -> None:
        try:
            self._zone: tzinfo = ZoneInfo(zone) if zone else tzlocal.get_localzone()
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise ConfigurationError(
                f"server.timezone: no time zone named '{zone}'; take one like Asia/Shanghai"
            ) from error

    @property
    def zone(self) -> tzinfo:
        """The configured zone, or the machine's."""
        return self._zone

    def now(self) -> int:
        """Milliseconds since 1970, UTC."""
        return int(time.time() * 1000)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(max(0.0, seconds))
