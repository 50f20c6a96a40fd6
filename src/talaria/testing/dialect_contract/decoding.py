"""Replies: the same deltas and the same answer however the bytes are cut, and nothing made of half a reply."""

# ruff: noqa: D102 - the names of tests are their docstrings

from contextlib import suppress
from random import Random

import pytest

from talaria.core.errors import ModelError, StreamTruncated
from talaria.ports.model import Delta
from talaria.testing.dialect_contract.cases import KEY, Broken, Cases, Reply, decode

SPLITS = 50


class DecodingContract(Cases):
    """`Dialect.decoder`."""

    def test_the_replies_of_this_suite_show_what_there_is_to_show(self) -> None:
        kinds = [(bool(each.text), bool(each.reasoning), min(len(each.calls), 2)) for each in self.replies]
        missing = [
            what
            for what, found in (
                ("text", any(text for text, _, _ in kinds)),
                ("reasoning", any(reasoning for _, reasoning, _ in kinds)),
                ("a single call", any(calls == 1 for _, _, calls in kinds)),
                ("parallel calls", any(calls == 2 for _, _, calls in kinds)),
                ("usage", any(each.usage for each in self.replies)),
            )
            if not found
        ]
        assert missing == [], "give the suite replies with these"

    def test_a_reply_is_the_answer_that_it_means(self, a_reply: Reply) -> None:
        a_reply.check(*decode(self.make(), self.connect(KEY), [a_reply.body]))

    def test_byte_by_byte_it_gives_the_same(self, a_reply: Reply) -> None:
        whole = decode(self.make(), self.connect(KEY), [a_reply.body])
        assert decode(self.make(), self.connect(KEY), [bytes([byte]) for byte in a_reply.body]) == whole

    def test_every_cut_in_two_gives_the_same(self, a_reply: Reply) -> None:
        dialect, body = self.make(), a_reply.body
        whole = decode(dialect, self.connect(KEY), [body])
        wrong = [at for at in range(len(body)) if decode(dialect, self.connect(KEY), [body[:at], body[at:]]) != whole]
        assert wrong == []

    def test_cuts_in_many_places_give_the_same(self, a_reply: Reply) -> None:
        dialect, body, random = self.make(), a_reply.body, Random(1)  # noqa: S311 - the same cuts every time
        whole = decode(dialect, self.connect(KEY), [body])
        for _ in range(SPLITS):
            cuts = sorted(random.sample(range(len(body)), random.randint(2, min(40, len(body)))))
            parts = [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]
            assert decode(dialect, self.connect(KEY), parts) == whole, f"cut at {cuts}"

    def test_a_reply_that_ends_too_early_is_no_answer(self, a_reply: Reply) -> None:
        """After any byte the answer is either there, and the whole one, or its lack is an error."""
        dialect, broke = self.make(), 0
        _, whole = decode(dialect, self.connect(KEY), [a_reply.body])
        for at in range(len(a_reply.body)):
            try:
                _, answer = decode(dialect, self.connect(KEY), [a_reply.body[:at]])
            except StreamTruncated:
                broke += 1
            except ModelError:
                continue
            else:
                assert (answer.message, answer.finish) == (whole.message, whole.finish), f"cut after {at} bytes"
        assert broke > len(a_reply.body) // 2

    def test_what_came_of_a_reply_that_breaks_off_is_kept_without_calls(self, a_reply: Reply) -> None:
        decoder = self.make().decoder(self.connect(KEY))
        for byte in a_reply.body:
            decoder.feed(bytes([byte]))
            partial = decoder.partial()
            assert a_reply.text.startswith(partial.text)
            assert a_reply.reasoning.startswith(partial.reasoning)
            assert (partial.calls, partial.incomplete) == ((), True)

    def test_progress_follows_the_answer(self, a_reply: Reply) -> None:
        decoder = self.make().decoder(self.connect(KEY))
        assert decoder.progress == "waiting"
        seen: list[str] = []
        for byte in a_reply.body:
            deltas = decoder.feed(bytes([byte]))
            seen.append(decoder.progress)
            assert not deltas or seen[-1] != "waiting"
        order = ["waiting", "answering", "done"]
        assert seen == sorted(seen, key=order.index), "progress went back"
        assert seen[-1] == "done", "the end mark of the wire was not seen"

    def test_replies_do_not_know_of_each_other(self) -> None:
        dialect = self.make()
        decoders = [dialect.decoder(self.connect(KEY)) for _ in self.replies]
        deltas: list[list[Delta]] = [[] for _ in self.replies]
        for at in range(max(len(each.body) for each in self.replies)):
            for decoder, reply, got in zip(decoders, self.replies, deltas, strict=True):
                got.extend(decoder.feed(reply.body[at : at + 1]))
        for decoder, reply, got in zip(decoders, self.replies, deltas, strict=True):
            last, answer = decoder.end()
            reply.check([*got, *last], answer)

    @pytest.mark.parametrize("size", [1, 1_000_000])
    def test_an_error_within_a_reply_is_raised_after_what_was_said(self, a_broken: Broken, size: int) -> None:
        decoder = self.make().decoder(self.connect(KEY))
        said: list[str] = []

        def read() -> None:
            for at in range(0, len(a_broken.body), size):
                said.extend(delta.text for delta in decoder.feed(a_broken.body[at : at + size]))
            decoder.end()

        with pytest.raises(a_broken.error) as caught:
            read()
        assert "".join(said) == a_broken.text == decoder.partial().text
        assert a_broken.words in caught.value.operator
        assert a_broken.words not in caught.value.message

    def test_damaged_replies_raise_nothing_but_model_errors(self, a_reply: Reply) -> None:
        dialect, random = self.make(), Random(1)  # noqa: S311 - the same damage every time
        for _ in range(SPLITS):
            body = bytearray(a_reply.body)
            for at in random.sample(range(len(body)), min(len(body), 10)):
                body[at] = random.randrange(256)
            with suppress(ModelError):
                decode(dialect, self.connect(KEY), [bytes(body)])
