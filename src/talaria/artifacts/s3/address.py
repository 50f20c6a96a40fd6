"""The address of a bucket: s3://bucket/prefix?endpoint=…&region=…."""

from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from talaria.core.errors import ConfigurationError

OPTIONS = ("endpoint", "region")


class Address(NamedTuple):
    """Where a bucket is. Without an `endpoint` it is at Amazon's."""

    bucket: str
    prefix: str
    endpoint: str = ""
    region: str = ""

    @staticmethod
    def parse(url: str) -> "Address":
        """Read `artifacts.url`.

        Raises:
            ConfigurationError: it names no bucket, or has an unknown option.
        """
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query))
        if unknown := sorted(options.keys() - set(OPTIONS)):
            raise ConfigurationError(f"artifacts.url: there is no '{unknown[0]}'; there are {', '.join(OPTIONS)}")
        if not parts.netloc or "@" in parts.netloc:
            raise ConfigurationError("artifacts.url: s3://bucket/prefix; credentials come from the environment")
        prefix = unquote(parts.path.strip("/"))
        return Address(parts.netloc, f"{prefix}/" if prefix else "", **options)
