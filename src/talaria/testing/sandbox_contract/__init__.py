"""What every kind of sandbox must do, as tests. Subclass `SandboxContract` and say how a sandbox is opened."""

from talaria.testing.sandbox_contract.commands import CommandContract
from talaria.testing.sandbox_contract.ending import EndingContract
from talaria.testing.sandbox_contract.files import FileContract
from talaria.testing.sandbox_contract.isolation import IsolationContract
from talaria.testing.sandbox_contract.limits import LimitContract
from talaria.testing.sandbox_contract.network import NetworkContract
from talaria.testing.sandbox_contract.opening import SIZE
from talaria.testing.sandbox_contract.paths import PathContract
from talaria.testing.sandbox_contract.pipes import PipeContract


class SandboxContract(
    CommandContract,
    EndingContract,
    FileContract,
    PathContract,
    PipeContract,
    IsolationContract,
    NetworkContract,
    LimitContract,
):
    """The suite for any sandbox. `open_sandbox(folder)` is the one method to write.

    The same folder gives the same workspace; two folders give two sandboxes. Each may take `SIZE`, and has no network.
    Inside there are `sh`, `bash`, the usual small programs and `python3`.
    """


__all__ = ["SIZE", "SandboxContract"]
