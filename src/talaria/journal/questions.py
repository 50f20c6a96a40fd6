"""Questions that a model asks the user: what they say, read from the request on record."""

import msgspec

QUESTION = "question"
"""The `reason` of a request that asks for an answer, and not for consent."""


class Question(msgspec.Struct, frozen=True, gc=False):
    """What is asked, and likely answers to choose from."""

    question: str
    choices: tuple[str, ...] = ()


_decode = msgspec.json.Decoder(Question).decode


def read_question(arguments: str) -> Question:
    """The question in the arguments of a request with the reason `question`."""
    return _decode(arguments)
