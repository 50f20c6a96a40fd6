"""Files in a bucket of a real S3 server."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from talaria.core.errors import ConfigurationError, Overloaded
from talaria.ports.artifacts import Bytes
from talaria.runtime.artifacts import open_bytes
from talaria.testing.bytes_contract import MIB, BytesContract, pieces, whole
from tests.artifacts.s3_server import ACCESS, SECRET, s3_server, url


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Generator[int]:
    with s3_server(tmp_path_factory.mktemp("s3")) as port:
        yield port


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", "http://127.0.0.1:9")


class TestBucket(BytesContract):
    @pytest.fixture(autouse=True)
    def server(self, port: int) -> None:
        self.port = port

    async def open_bytes(self, folder: Path) -> Bytes:
        return open_bytes(url(self.port, prefix=f"/{folder.name}"), "dep_1")


async def test_a_deployment_leaves_anothers_bytes_alone(port: int) -> None:
    mine, theirs = (open_bytes(url(port), name) for name in ("dep_1", "dep_2"))
    await theirs.put("art_1", pieces(b"a"))
    assert await mine.sweep(-60, _never) == 0
    assert await whole(theirs, "art_1") == b"a"
    await mine.close()
    await theirs.close()


async def test_an_upload_that_is_cancelled_leaves_no_parts_at_the_server(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def data() -> AsyncGenerator[bytes]:
        for _ in range(20):
            yield bytes(MIB)
        begun.set()
        await asyncio.Event().wait()

    with s3_server(tmp_path) as port:
        kept = open_bytes(url(port), "dep_1")
        putting = asyncio.create_task(kept.put("art_1", data()))
        await asyncio.wait_for(begun.wait(), 20)
        assert await asyncio.to_thread(files_of, tmp_path)
        putting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await putting
        assert await asyncio.to_thread(files_of, tmp_path) == []


def files_of(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size >= MIB]


async def test_wrong_credentials_are_said_to_be(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another one altogether")
    kept = open_bytes(url(port), "dep_1")
    with pytest.raises(Overloaded, match="cannot be used now") as refused:
        await kept.put("art_1", pieces(b"a"))
    assert "SignatureDoesNotMatch" in refused.value.operator
    await kept.close()


async def test_without_credentials_nothing_is_kept(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    kept = open_bytes(url(port), "dep_1")
    with pytest.raises(Overloaded, match="cannot be used now"):
        await kept.check()
    await kept.close()


async def test_a_bucket_that_is_not_there_is_said_to_be(port: int) -> None:
    kept = open_bytes(url(port, bucket="another-bucket"), "dep_1")
    with pytest.raises(Overloaded, match="'another-bucket' cannot be used now"):
        await kept.check()
    with pytest.raises(Overloaded):
        await kept.put("art_1", pieces(b"a"))
    await kept.close()


async def test_a_server_that_dies_is_said_to_be_gone_and_is_used_again(tmp_path: Path) -> None:
    with s3_server(tmp_path) as port:
        kept = open_bytes(url(port), "dep_1")
        await kept.put("art_1", pieces(b"a"))
    with pytest.raises(Overloaded, match="cannot be used now"):
        await kept.put("art_2", pieces(b"b"))
    with pytest.raises(Overloaded):
        await whole(kept, "art_1")
    await kept.close()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("s3://", "s3://bucket/prefix"),
        ("s3://key:secret@bucket/x", "credentials come from"),
        ("s3://bucket/x?endpont=http://x", "there is no 'endpont'"),
        ("gs://bucket", "nothing to keep files in at"),
        ("file:", "nothing to keep files in at"),
    ],
)
def test_a_wrong_address_is_refused(address: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        open_bytes(address, "dep_1")


async def _never(_: str) -> bool:
    return False
