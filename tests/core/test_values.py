"""Ids, keys, positions, usage, principals: values that go out and come back the same."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.core import errors
from talaria.core.errors import InvalidRequest, TalariaError
from talaria.core.events import START, Position, read_position, write_position
from talaria.core.ids import SESSION_ID, SessionKey, new_id
from talaria.core.principal import Principal
from talaria.core.usage import Usage

parts = st.text(min_size=1, max_size=12)


@given(parts, parts, parts, parts, st.one_of(st.just(""), parts))
def test_a_session_key_comes_back_from_its_path(tenant: str, user: str, assistant: str, session: str, run: str) -> None:
    key = SessionKey(tenant, user, assistant, session, run)
    assert SessionKey.parse(key.path) == key
    assert key.path.isascii()
    assert key.path.startswith(key.scope + "/")


@given(st.text(max_size=3), st.text(max_size=3), st.text(max_size=3), st.text(max_size=3))
def test_different_keys_have_different_paths_even_with_empty_parts(a: str, b: str, c: str, d: str) -> None:
    key, other = SessionKey(a, b, c, d), SessionKey(b, a, c, d)
    assert (key.path == other.path) == (key == other)
    assert SessionKey.parse(key.path) == key


def test_what_is_in_one_session_is_not_in_another_whose_name_begins_alike() -> None:
    assert not SessionKey("t", "u", "-", "a/b").path.startswith(SessionKey("t", "u", "-", "a").path + "/")


def test_ids_are_of_one_alphabet_unique_and_sorted_by_age() -> None:
    ids = [new_id("run") for _ in range(1_000)]
    assert len(set(ids)) == 1_000
    assert all(re.fullmatch(r"run_[0-9a-f]{26}", id_) for id_ in ids)
    assert [id_[:14] for id_ in ids] == sorted(id_[:14] for id_ in ids)
    assert SESSION_ID.fullmatch(new_id("ses"))


numbers = st.integers(0, 10**15 - 1)
positions: st.SearchStrategy[Position] = st.one_of(
    st.tuples(numbers, st.just(0), st.just(0), numbers),
    st.tuples(numbers, st.integers(1, 10**15 - 1), numbers, numbers),
)


@given(positions)
def test_a_position_comes_back_from_its_text(position: Position) -> None:
    assert read_position(write_position(position)) == position


def test_positions_are_in_the_order_in_which_a_client_gets_the_events() -> None:
    order: list[Position] = [START, (0, 0, 0, 1), (1, 0, 0, 0), (1, 5, 1, 3), (1, 5, 2, 0), (1, 6, 1, 2), (2, 0, 0, 0)]
    assert order == sorted(order)


@pytest.mark.parametrize(
    "text", ["", "1", "1.2.3", "1.2.3.4.5.6", "a.b", "-1.0", "1.\u0661", "1.2\n", "9" * 16 + ".1", "1. 2"]
)
def test_what_is_no_position_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match="not an event position"):
        read_position(text)


usages = st.builds(
    Usage,
    st.integers(0, 99),
    st.integers(0, 99),
    st.integers(0, 99),
    st.integers(0, 99),
    st.one_of(st.none(), st.integers(0, 99).map(float)),
    st.booleans(),
)


@given(usages, usages, usages)
def test_usage_is_summed_in_any_order_and_an_unknown_price_is_no_price(a: Usage, b: Usage, c: Usage) -> None:
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert Usage() + a == a
    assert ((a + b).cost is None) == (a.cost is None and b.cost is None)


def test_a_principal_sees_what_is_its_own() -> None:
    assert Principal("t", "u").may_see("t", "u")
    assert not Principal("t", "u").may_see("t", "v")
    assert not Principal("t", "u").may_see("s", "u")
    assert Principal("t", "u", everyone=True).may_see("t", "v")
    assert not Principal("t", "u", everyone=True).may_see("s", "u")


def test_every_error_has_a_code_and_is_in_the_tree_that_is_drawn() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, TalariaError)]
    assert len(kinds) > 20
    drawn = errors.__doc__ or ""
    for kind in kinds:
        assert kind.__name__ in drawn
        assert re.fullmatch(r"[a-z_]+", kind.code)
