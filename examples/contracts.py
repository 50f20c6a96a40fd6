"""Fields out of contracts: ten of them, Chinese and English, each into one typed value that quotes its source."""

import asyncio
import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, model_validator

from talaria import Agent, Runtime
from talaria.core.messages import UserMessage
from talaria.testing.scripted_model import Say, ScriptedModel

FOLDER = Path(__file__).parent / "contracts"
Kind = Literal[
    "sale", "lease", "services", "confidentiality", "loan", "employment", "licence", "works", "distribution", "other"
]


class Contract(BaseModel):
    """What a contract says; null where it says nothing."""

    number: str | None
    kind: Kind
    parties: Annotated[list[str], Field(min_length=2, description="Full names, without their roles.")]
    signed: date
    total: Annotated[Decimal | None, Field(description="The whole sum, or of a salary the year's.")]
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$", description="ISO 4217.")] | None
    ends: date | None
    law: str
    quote: Annotated[str, Field(min_length=5, description="The words that say the total, exactly as they stand there.")]

    @model_validator(mode="after")
    def fits_together(self) -> "Contract":
        if self.ends is not None and self.ends < self.signed:
            raise ValueError("it ends before it was signed: look at both dates again")
        if (self.total is None) != (self.currency is None):
            raise ValueError("total and currency go together")
        return self


reader = Agent(
    "reader",
    instructions="Read the contract and give its fields. Take nothing from elsewhere; what is void does not count.",
    output_type=Contract,
)


def make_script():
    """What stands in for a model: it knows the answers, and mistakes two dates at its first try."""
    answers = json.loads((FOLDER / "answers.json").read_text(encoding="utf-8"))
    texts = {(FOLDER / name).read_text(encoding="utf-8"): answer for name, answer in answers.items()}
    mistaken = set()

    def script(request):
        text = next(each.parts[0].text for each in request.prompt.messages if isinstance(each, UserMessage))
        answer = texts[text]
        if answer["number"] == "CG-2026-014" and text not in mistaken:
            mistaken.add(text)
            answer = answer | {"signed": answer["ends"], "ends": answer["signed"]}
        return Say(json.dumps(answer, ensure_ascii=False))

    return script


def runtime() -> Runtime:
    if Path("talaria.yaml").exists():
        return Runtime(agents=[reader])
    return Runtime({"store": {"url": "memory://"}}, agents=[reader], model=ScriptedModel(script=make_script()))


async def main() -> None:
    async with runtime() as here:
        for path in sorted(FOLDER.glob("*.txt")):
            text = path.read_text(encoding="utf-8")
            contract = (await here.run(reader, text)).output
            found = "" if contract.quote in text else ", but the quote is not in the contract"
            print(f"{path.stem}: {contract.kind}, {' and '.join(contract.parties)}, signed {contract.signed}{found}")
            print(f"  {contract.total} {contract.currency}, until {contract.ends}, law: {contract.law}")


if __name__ == "__main__":
    asyncio.run(main())
