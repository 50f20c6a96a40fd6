"""What opens URLs that models and requests name, as the settings allow."""

from talaria.fetch import Fetcher, Limits, Listed, Rules
from talaria.runtime.settings import FetchSettings


def make_fetcher(settings: FetchSettings, timeout: float, max_bytes: int | None = None) -> Fetcher:
    """Make it; `timeout` in seconds for all of an answer, `max_bytes` where it may be smaller than the setting.

    Raises:
        ConfigurationError: an entry of `fetch.allowPrivate` is no host.
    """
    said = settings.allow_private
    private = said if isinstance(said, bool) else Listed(said, "fetch.allowPrivate")
    size = settings.max_bytes if max_bytes is None else min(settings.max_bytes, max_bytes)
    return Fetcher(Rules(private=private), Limits(max_bytes=size, timeout=timeout))
