"""What is used of aiobotocore's client: its own types are made at run time."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple, Protocol, cast
from urllib.parse import parse_qsl, unquote, urlsplit

from talaria.core.errors import ConfigurationError

Call = Callable[..., Awaitable[dict[str, Any]]]
OPTIONS = ("endpoint", "region", "profile", "style")


class Body(Protocol):
    """The bytes of an answer."""

    def iter_chunks(self, chunk_size: int) -> AsyncIterator[bytes]:
        """Yield them as they come."""
        ...

    def close(self) -> None:
        """Give the connection up."""
        ...


class Client(Protocol):
    """The calls of S3, with its own names and members."""

    put_object: Call
    get_object: Call
    delete_object: Call
    head_bucket: Call
    list_objects_v2: Call
    create_multipart_upload: Call
    upload_part: Call
    complete_multipart_upload: Call
    abort_multipart_upload: Call
    list_multipart_uploads: Call


class Address(NamedTuple):
    """Where a bucket is: s3://bucket/prefix?endpoint=…&region=…&profile=…&style=path|virtual."""

    bucket: str
    prefix: str
    endpoint: str | None = None
    region: str | None = None
    profile: str | None = None
    style: str = "auto"

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
            raise ConfigurationError(
                "artifacts.url: s3://bucket/prefix; credentials come from the environment or a profile, as for AWS"
            )
        prefix = unquote(parts.path.strip("/"))
        return Address(parts.netloc, f"{prefix}/" if prefix else "", **options)


def connect(address: Address) -> AbstractAsyncContextManager[Client]:
    """Make a client with the credentials of the environment, a profile or the machine's role.

    Raises:
        ConfigurationError: the extra `s3` is not installed.
    """
    try:
        from aiobotocore.config import AioConfig  # noqa: PLC0415 - half a second, and only for who uses it
        from aiobotocore.session import get_session  # noqa: PLC0415  # pyright: ignore[reportUnknownVariableType]
    except ImportError as error:
        raise ConfigurationError("artifacts.url: s3:// needs the extra: pip install 'talaria-agent[s3]'") from error
    session = cast("Any", get_session())
    if address.profile:
        session.set_config_variable("profile", address.profile)
    style = "path" if address.style == "auto" and address.endpoint else address.style
    config = AioConfig(
        connect_timeout=5,
        read_timeout=30,
        retries={"mode": "standard", "max_attempts": 3},
        s3={"addressing_style": style},
        request_checksum_calculation="when_required",  # servers that are not Amazon's refuse the new ones
        response_checksum_validation="when_required",
    )
    return session.create_client("s3", endpoint_url=address.endpoint, region_name=address.region, config=config)
