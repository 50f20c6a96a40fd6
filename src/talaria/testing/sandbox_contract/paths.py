"""No path leads out of the workspace."""

# ruff: noqa: D102 - the names of tests are their docstrings

import asyncio

import pytest

from talaria.core.errors import InvalidRequest, NotFound
from talaria.ports.sandbox import Command, Sandbox
from talaria.testing.sandbox_contract.opening import SECONDS, Opening, appears, python, shell

_OUT = (
    "..",
    "../etc/passwd",
    "/etc/passwd",
    "/",
    "//etc/passwd",
    "/workspaces/file",
    "/workspace/../etc/passwd",
    "folder/../../etc/passwd",
    "./../x",
    "absolute",
    "relative",
    "root/etc/passwd",
    "up/etc/passwd",
    "chain",
    "device",
    "process",
)
_LINKS = """
mkdir folder
ln -s /etc/passwd absolute
ln -s ../../../../../../etc/passwd relative
ln -s / root
ln -s .. up
ln -s root/etc/passwd chain
ln -s /dev/zero device
ln -s /proc/self/environ process
"""
_EXCHANGE = """
import ctypes, os, time
os.makedirs("/tmp/outside", exist_ok=True)
open("/tmp/outside/file", "w").write("outside")
os.makedirs("real"); open("real/file", "w").write("inside")
os.symlink("/tmp/outside", "link")
os.rename("real", "way")
open("ready", "w").close()
libc = ctypes.CDLL(None)
end = time.monotonic() + 3
while time.monotonic() < end:
    if libc.renameat2(-100, b"way", -100, b"link", 2): raise SystemExit("not exchanged")
"""


class PathContract(Opening):
    """Links, "..", absolute paths, devices, races."""

    @pytest.mark.parametrize("path", _OUT)
    async def test_a_path_that_leads_out_is_refused(self, sandbox: Sandbox, path: str) -> None:
        await shell(sandbox, _LINKS)
        async with asyncio.timeout(SECONDS):
            with pytest.raises(InvalidRequest):
                await sandbox.read(path)
            with pytest.raises(InvalidRequest):
                await sandbox.write(path, b"no")
            with pytest.raises((InvalidRequest, NotFound)):
                await sandbox.list(path)
            with pytest.raises(InvalidRequest):
                await sandbox.exec(Command(argv=["pwd"], cwd=path))

    async def test_nothing_is_made_or_written_through_a_link_that_leads_out(self, sandbox: Sandbox) -> None:
        await shell(sandbox, "mkdir -p /tmp/outside; echo old > /tmp/outside/file; ln -s /tmp/outside out; "
                    "ln -s /tmp/outside/file link; ln -s /tmp/outside/new new")  # fmt: skip
        for path in ("link", "new", "out/file", "out/other", "out/folder/file"):
            with pytest.raises(InvalidRequest):
                await sandbox.write(path, b"changed")
        assert (await shell(sandbox, "cat /tmp/outside/*; ls /tmp/outside; rm -r /tmp/outside")).head == b"old\nfile\n"

    async def test_a_path_that_goes_up_and_stays_inside_is_good(self, sandbox: Sandbox) -> None:
        await sandbox.write("a/file", b"1")
        for path in ("a/../a/file", "./a//file", "/workspace/a/./file", "missing/../a/file"):
            assert await sandbox.read(path) == b"1"

    async def test_no_file_changes_by_writing_to_a_link_of_it(self, sandbox: Sandbox) -> None:
        await shell(sandbox, "echo old > file; ln -s file link")
        with pytest.raises(InvalidRequest):
            await sandbox.write("link", b"new")
        assert await sandbox.read("file") == b"old\n"

    async def test_a_loop_of_links_is_refused(self, sandbox: Sandbox) -> None:
        await shell(sandbox, "ln -s b a; ln -s a b; ln -s self self")
        for path in ("a", "self", "a/x"):
            with pytest.raises(InvalidRequest):
                await sandbox.read(path)

    async def test_a_list_goes_through_no_link(self, sandbox: Sandbox) -> None:
        await shell(sandbox, "mkdir folder; touch folder/file; ln -s / folder/root; ln -s . folder/self")
        found = [file.path for file in await sandbox.list(depth=9)]
        assert found == ["folder", "folder/file", "folder/root", "folder/self"]

    async def test_a_folder_that_is_exchanged_for_a_link_all_the_time_leads_nowhere(self, sandbox: Sandbox) -> None:
        exchanging = asyncio.create_task(python(sandbox, _EXCHANGE))
        async with asyncio.timeout(SECONDS):
            await appears(sandbox, "ready")
            seen: set[bytes] = set()
            while not exchanging.done():
                try:
                    seen.add(await sandbox.read("way/file"))
                    await sandbox.write("way/written", b"")
                except (InvalidRequest, NotFound):
                    continue
            done = await exchanging
        assert (done.exit_code, done.head) == (0, b"")
        assert seen <= {b"inside"}
        left = await shell(sandbox, "cat /tmp/outside/file; ls /tmp/outside; rm -r /tmp/outside")
        assert left.head == b"outsidefile\n"
