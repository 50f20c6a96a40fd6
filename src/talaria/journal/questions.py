"""Questions that are not about consent: what a model asks the user, and calls that the caller runs."""

import msgspec

QUESTION = "question"
"""The `reason` of a request that asks the user for an answer, and not for consent."""
CLIENT = "client"
"""The `reason` of a request for the result of a call that the caller runs."""
FOR_USER = (QUESTION, CLIENT)
"""Those that are for the run's own user alone."""


class Question(msgspec.Struct, frozen=True, gc=False):
    """What is asked, and likely answers to choose from."""

    question: str
    choices: tuple[str, ...] = ()


_decode = msgspec.json.Decoder(Question).decode


def read_question(arguments: str) -> Question:
    """The question in the arguments of a request with the reason `question`."""
    return _decode(arguments)
