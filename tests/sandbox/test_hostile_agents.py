"""An agent that lies, or says nothing, does no more harm than being lost."""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.core.errors import InvalidRequest, NotFound, SandboxLost
from talaria.ports.sandbox import Command, Exited
from talaria.sandbox import frames
from talaria.sandbox.agent_sandbox import AgentSandbox, ChannelPipe
from talaria.sandbox.frames import EGRESS, LARGEST, PADDING, WINDOW, Decoder, frame


class Scripted:
    """A link to an agent that says hello and then what it was told to, whatever it is asked."""

    def __init__(self, says: bytes, *, hello: bool = True, before: bytes = b"") -> None:
        self._says = says
        self._hello = hello
        self._before = before
        self._decoder = Decoder()
        self._asked = asyncio.Event()
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()
        self.closed = False

    async def read(self) -> bytes:
        return await self._pieces.get()

    def write(self, data: bytes) -> None:
        for kind, _, payload in self._decoder.feed(data):
            if kind == frames.HELLO and self._hello:
                self._pieces.put_nowait(self._before + frame(frames.HELLO, 0, payload))
            if kind == frames.OPEN:
                for at in range(0, len(self._says), 1000):
                    self._pieces.put_nowait(self._says[at : at + 1000])
                self._pieces.put_nowait(b"")

    async def drain(self) -> None:
        await asyncio.sleep(0)

    async def close(self) -> None:
        self.closed = True


async def answered(says: bytes, use: str = "exec") -> object:
    """Return what comes of a request to an agent that says this."""
    sandbox = AgentSandbox(Scripted(says), _serve)
    await sandbox.open()
    uses: dict[str, Awaitable[object]] = {
        "exec": sandbox.exec(Command(argv=["true"], head=100, tail=100)),
        "read": sandbox.read("file", limit=1000),
        "write": sandbox.write("file", bytes(WINDOW * 2)),
        "list": sandbox.list(),
        "dial": sandbox.dial(80),
    }
    wanted = uses.pop(use)
    for other in uses.values():
        other.close()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] - a coroutine
    try:
        async with asyncio.timeout(10):
            return await wanted
    except (InvalidRequest, NotFound, SandboxLost) as error:
        return error
    finally:
        async with asyncio.timeout(10):
            await sandbox.detach()


async def _serve(pipe: ChannelPipe) -> None:
    while await pipe.read():
        await pipe.write(b"answer")


_KINDS = st.integers(0, 12)
_FRAMES = st.builds(
    frame, _KINDS, st.sampled_from([0, 1, 1, 1, 2, EGRESS, EGRESS + 1]), st.binary(max_size=40) | st.sampled_from(
        [b"ok", b"ok\0" + b"0\0exited\0" + b"0\0" + b"0", b"error\0not_found\0no", b"\0\0\0\0", b"\xff\xff\xff\xff"]
    )
)  # fmt: skip
_SAID = st.lists(_FRAMES, max_size=12).map(b"".join) | st.binary(max_size=200)


@given(says=_SAID, use=st.sampled_from(["exec", "read", "write", "list", "dial"]))
async def test_whatever_an_agent_says_there_is_an_answer_or_it_is_lost(says: bytes, use: str) -> None:
    answer = await answered(says, use)
    assert answer is None or isinstance(
        answer, Exited | bytes | list | ChannelPipe | InvalidRequest | NotFound | SandboxLost
    )


@pytest.mark.parametrize(
    "says",
    [
        b"",
        b"\xff" * 20,
        frame(frames.DATA, 1, b"x") * 201,
        frame(frames.DATA, 7, b"x"),
        frame(frames.DONE, 1, b""),
        frame(frames.DONE, 1, b"ok"),
        frame(frames.DONE, 1, b"ok\0one\0exited\0000\0000"),
        frame(frames.DONE, 1, b"ok\0001\0melted\0000\0000"),
        frame(frames.OPEN, 1, b"egress"),
        frame(frames.HELLO, 1, b""),
        b"".join(frame(frames.OPEN, EGRESS + n, b"egress") for n in range(1, 70)),
        frame(frames.DATA, 1, bytes(LARGEST))[:-1],
        frames.HEADER.pack(frames.DATA, 1, LARGEST + 1),
    ],
)
async def test_an_agent_that_breaks_the_rules_is_lost(says: bytes) -> None:
    answer = await answered(says)
    assert isinstance(answer, SandboxLost | InvalidRequest)


async def test_no_more_is_kept_than_was_asked_for() -> None:
    flood = frame(frames.DATA, 1, bytes(LARGEST)) * (WINDOW // LARGEST + 1)
    for use in ("exec", "read", "dial"):
        answer = await answered((frame(frames.READY, 1) if use == "dial" else b"") + flood, use)
        if isinstance(answer, ChannelPipe):
            with suppress(SandboxLost):
                assert len(await answer.read()) <= LARGEST
        else:
            assert isinstance(answer, SandboxLost)


async def test_words_of_an_agent_are_cut_and_made_text() -> None:
    answer = await answered(frame(frames.DONE, 1, b"error\0invalid\0" + b"\xff" * 5_000))
    assert isinstance(answer, InvalidRequest)
    assert len(answer.message) <= 500
    answer.message.encode()


async def test_what_was_meant_for_the_host_before_is_dropped() -> None:
    done = frame(frames.DONE, 1, b"ok\0003\0exited\0000\0000")
    link = Scripted(done, before=frame(frames.HELLO, 0, b"old" * 10) + done + done[:7])
    sandbox = AgentSandbox(link)
    await sandbox.open()
    assert (await sandbox.exec(Command(argv=["true"]))).exit_code == 3
    await sandbox.detach()
    assert link.closed


async def test_an_agent_that_does_not_say_hello_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("talaria.sandbox.connection.HELLO_SECONDS", 0.05)
    link = Scripted(b"", hello=False)
    with pytest.raises(SandboxLost):
        await AgentSandbox(link).open()
    assert link.closed


async def test_an_agent_that_falls_silent_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("talaria.sandbox.connection.PING_SECONDS", 0.02)
    monkeypatch.setattr("talaria.sandbox.connection.SILENCE", 0.05)
    sandbox = AgentSandbox(Scripted(b""))
    await sandbox.open()
    async with asyncio.timeout(10):
        await sandbox.wait_lost()
    assert sandbox.lost
    with pytest.raises(SandboxLost):
        await sandbox.read("file")
    await sandbox.detach()


@given(st.data())
def test_frames_are_the_same_however_the_stream_is_cut(data: st.DataObject) -> None:
    sent = [(frames.DATA, 1, b"abc"), (frames.END, 2, b""), (frames.OPEN, EGRESS, b"x" * 300)]
    stream = PADDING[:5].join(frame(*each) for each in sent)
    decoder = Decoder()
    seen: list[tuple[int, int, bytes]] = []
    while stream:
        count = data.draw(st.integers(1, len(stream)))
        seen += decoder.feed(stream[:count])
        stream = stream[count:]
    assert seen == sent


@given(st.binary(max_size=50), st.integers(0, 80))
def test_after_padding_a_frame_is_a_frame_whatever_was_cut_off_before(payload: bytes, cut: int) -> None:
    decoder = Decoder()
    decoder.feed(frame(frames.DATA, 9, payload)[:cut])
    seen = decoder.feed(PADDING + frame(frames.HELLO, 0, b"token"))
    assert seen[-1] == (frames.HELLO, 0, b"token")
