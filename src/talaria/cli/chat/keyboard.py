"""The keyboard while a turn runs: what is typed is not shown, and Ctrl-C is heard."""

import asyncio
import signal
import sys
import termios
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def listening_for_interrupts(on_interrupt: Callable[[], None]) -> Generator[None]:
    """Call `on_interrupt` at every Ctrl-C, and keep other keys for the next prompt, unseen."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, on_interrupt)
    before = termios.tcgetattr(sys.stdin)
    quiet = termios.tcgetattr(sys.stdin)
    quiet[3] &= ~termios.ECHO
    termios.tcsetattr(sys.stdin, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSANOW, before)
        loop.remove_signal_handler(signal.SIGINT)
