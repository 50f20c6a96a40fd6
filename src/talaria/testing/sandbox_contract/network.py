"""There is no network: not outside, not the host's own, not by names."""

# ruff: noqa: D102 - the names of tests are their docstrings

import socket
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from talaria.ports.sandbox import Sandbox
from talaria.testing.sandbox_contract.opening import Opening, python, shell, whole

_CONNECT = """
import socket, sys
for kind, host, port in ((socket.SOCK_STREAM, "1.1.1.1", 53), (socket.SOCK_STREAM, "169.254.169.254", 80),
                         (socket.SOCK_STREAM, "2606:4700:4700::1111", 53), (socket.SOCK_DGRAM, "8.8.8.8", 53),
                         (socket.SOCK_STREAM, "10.0.0.1", 80), (socket.SOCK_STREAM, "172.17.0.1", 80)):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, kind) as sock:
        sock.settimeout(3)
        try: sock.connect((host, port)); sock.send(b"x")
        except OSError: continue
        print("reached", host)
"""
_RESOLVE = """
import socket
for name in ("example.com", "pypi.org", "host.docker.internal"):
    try: print(socket.getaddrinfo(name, 80))
    except OSError: pass
"""
_REACH = """
import socket, sys
kind, where = sys.argv[1:]
with socket.socket(socket.AF_UNIX if kind == "unix" else socket.AF_INET) as sock:
    sock.settimeout(3)
    try: sock.connect("\\0" + where if kind == "unix" else ("127.0.0.1", int(where))); print("reached")
    except OSError as error: print("refused")
"""
_INTERFACES = "print([line.split(':')[0].strip() for line in open('/proc/net/dev') if ':' in line])"
_RAW = """
import socket
for family, kind, protocol in ((socket.AF_INET, socket.SOCK_RAW, 1), (socket.AF_PACKET, socket.SOCK_RAW, 0x300)):
    try: socket.socket(family, kind, protocol); print("raw")
    except OSError: pass
"""


@contextmanager
def listening(family: socket.AddressFamily, address: tuple[str, int] | str) -> Generator[socket.socket]:
    """Listen on the host."""
    with socket.socket(family) as listener:
        listener.bind(address)
        listener.listen()
        yield listener


class NetworkContract(Opening):
    """No network, no DNS, no sockets of the host."""

    async def test_nothing_outside_is_reached(self, sandbox: Sandbox) -> None:
        assert whole(await python(sandbox, _CONNECT)) == b""

    async def test_no_name_is_resolved(self, sandbox: Sandbox) -> None:
        assert whole(await python(sandbox, _RESOLVE)) == b""

    async def test_there_is_no_interface_but_the_loopback(self, sandbox: Sandbox) -> None:
        names = whole(await python(sandbox, _INTERFACES)).decode()
        assert "lo" in names
        assert not any(name in names for name in ("eth", "ens", "enp", "docker", "wlan", "br-"))

    async def test_what_listens_on_the_host_is_not_reached(self, sandbox: Sandbox) -> None:
        with listening(socket.AF_INET, ("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            assert whole(await python(sandbox, _REACH, "tcp", str(port))) == b"refused\n"

    @pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no unix sockets here")
    async def test_abstract_sockets_of_the_host_are_not_reached(self, sandbox: Sandbox) -> None:
        name = "talaria-contract"
        with listening(socket.AF_UNIX, f"\0{name}"):
            assert whole(await python(sandbox, _REACH, "unix", name)) == b"refused\n"

    async def test_there_are_no_sockets_of_the_hosts_services(self, sandbox: Sandbox) -> None:
        found = await shell(sandbox, "find / -xdev -type s 2>/dev/null; ls /var/run/docker.sock /run/docker.sock "
                            "/run/dbus /run/containerd 2>/dev/null; true")  # fmt: skip
        assert whole(found) == b""

    async def test_no_raw_sockets_are_to_be_had(self, sandbox: Sandbox) -> None:
        assert whole(await python(sandbox, _RAW)) == b""
