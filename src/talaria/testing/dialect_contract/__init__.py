"""What every dialect must do, as tests. Subclass `DialectContract` in a test file and give it replies of the wire."""

from talaria.testing.dialect_contract.cases import Broken, Refused, Reply
from talaria.testing.dialect_contract.decoding import DecodingContract
from talaria.testing.dialect_contract.failures import FailureContract
from talaria.testing.dialect_contract.rounds import RoundContract


class DialectContract(DecodingContract, RoundContract, FailureContract):
    """The suite for any dialect: `make` and `replies` are to be written, `broken` and `refused` are wanted.

    Among the replies are plain text, reasoning, a single call and parallel calls, with the usage that the provider
    reports.
    """


__all__ = ["Broken", "DialectContract", "Refused", "Reply"]
