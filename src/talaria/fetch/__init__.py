"""One guarded way to open URLs that a model or a request names.

`Fetcher` is what the rest uses: it opens http and https only, at addresses that `Rules` let through, connects to the
very address that was checked, follows redirects by the same rules, and bounds time and size.
"""

from talaria.fetch.fetcher import Fetcher
from talaria.fetch.listed import Listed
from talaria.fetch.reply import Limits, Page, Reply
from talaria.fetch.rules import Rules
from talaria.fetch.url import Url, read_url

__all__ = ["Fetcher", "Limits", "Listed", "Page", "Reply", "Rules", "Url", "read_url"]
