"""The agent: the first process in every sandbox, through which all goes that a host does in it.

`source()` is what runs there, as `python3 -I -S -c SOURCE NAME=VALUE…`; any Python from 3.9 with ctypes will do,
nothing else is needed. Options, as `NAME=VALUE` each:

    workspace=/workspace    the folder that relative paths begin in, and HOME of commands
    disk=0                  bytes it may hold; 0: any
    orphan=0                seconds after which the agent, and with it the sandbox, ends if no host was heard; 0: never
    egress=0                the port on 127.0.0.1 where commands find a proxy; 0: none
    fd=-1                   a listening unix socket that hosts connect to; -1: the host is at stdin and stdout
    oom=-1                  a file that counts what the kernel ended for want of memory (memory.events of cgroup v2,
                            memory.oom_control of v1); -1: the one in /sys/fs/cgroup, if there is one

Commands get the agent's own environment, and its user and limits. The agent ignores signals, cannot be traced by what
it runs, and ends with status 0 after BYE, at the end of stdin, or as an orphan.
"""

from functools import cache
from importlib.resources import files

_PARTS = (
    *("kernel", "loop", "processes", "session", "paths", "usage", "file_work"),
    *("memory", "environment", "shim", "commands", "relays", "main"),
)
_PROGRAM = """import sys
for name, text in {parts!r}:
    sys.modules[name] = module = type(sys)(name)
    exec(compile(text, name, "exec"), module.__dict__)
module.main()
"""


@cache
def source() -> str:
    """Return the agent as one program: the protocol and the modules of this package, in the order they need.

    The first call reads files.
    """
    frames = files("talaria.sandbox").joinpath("frames.py").read_text("utf-8")
    parts = [("talaria.sandbox.frames", frames)]
    parts += [(f"{__name__}.{name}", files(__name__).joinpath(f"{name}.py").read_text("utf-8")) for name in _PARTS]
    return _PROGRAM.format(parts=parts)
