"""Failures: what a status means is the same everywhere, and the provider's words are for operators only."""

# ruff: noqa: D102 - the names of tests are their docstrings

import json

import pytest

from talaria.core.errors import ModelError, ModelRejected, ModelUnavailable
from talaria.testing.dialect_contract.cases import Cases, Refused

WORDS = "words of the provider"
_BODIES = (
    json.dumps({"error": {"message": WORDS}}).encode(),
    json.dumps({"message": WORDS}).encode(),
    WORDS.encode(),
)


class FailureContract(Cases):
    """`Dialect.failure`."""

    @pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 405, 422])
    def test_a_request_that_was_refused_is_not_worth_a_retry(self, status: int) -> None:
        self._check(status, ModelRejected)

    @pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
    def test_a_provider_in_trouble_may_be_asked_again(self, status: int) -> None:
        self._check(status, ModelUnavailable)

    @pytest.mark.parametrize(
        "body", [b"", b"<html>", b"\xff\xfe", b"[]", b"null", b'{"error":null}', b'{"error":"no"}']
    )
    def test_any_body_will_do(self, body: bytes) -> None:
        assert isinstance(self.make().failure(500, (), body), ModelUnavailable)

    def test_what_the_provider_says_of_a_failure_counts(self, a_refused: Refused) -> None:
        error = self.make().failure(a_refused.status, a_refused.headers, a_refused.body)
        assert type(error) is a_refused.error
        assert a_refused.words in error.operator
        assert a_refused.words not in error.message

    def _check(self, status: int, kind: type[ModelError]) -> None:
        for body in _BODIES:
            error = self.make().failure(status, (), body)
            assert type(error) is kind
            assert WORDS in error.operator
            assert WORDS not in error.message
