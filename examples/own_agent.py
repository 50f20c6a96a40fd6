"""An agent of one's own: it drafts, has the draft reviewed, and writes it anew until the reviewer has no objection."""

import asyncio
from pathlib import Path

import talaria
from talaria.testing.scripted_model import Say, ScriptedModel

ROUNDS = 3


@talaria.agent
class Editor:
    name = "editor"
    needs = frozenset({"models"})

    async def initialize(self, runtime):
        pass

    async def invoke(self, request, session):
        draft = await request.models.ask(request.query, system="Write two sentences.")
        for turn in range(ROUNDS):
            review = await request.models.ask(draft.text, system="Say OK, or what is unclear. Nothing else.")
            yield talaria.ChatEvent("custom", {"round": turn + 1, "review": review.text}, name="review")
            if review.text.strip() == "OK":
                break
            wish = f"{request.query}\n\nDraft: {draft.text}\nObjection: {review.text}"
            draft = await request.models.ask(wish, system="Write two sentences, and meet the objection.")
        yield draft.text

    async def destroy(self):
        pass


script = ScriptedModel(
    Say("The cache is warm."),
    Say("Which cache?"),
    Say("The cache of the web shop is warm. Pages load at once."),
    Say("OK"),
)


def runtime() -> talaria.Runtime:
    if Path("talaria.yaml").exists():
        return talaria.Runtime(agents=[Editor])
    return talaria.Runtime({"store": {"url": "memory://"}}, agents=[Editor], model=script)


async def main() -> None:
    async with runtime() as here:
        async for event in here.stream(Editor, "Tell the team that the shop's cache is filled."):
            if event.type == "custom":
                print(f"review {event.data['round']}: {event.data['review']}")
            elif event.type == "token":
                print(event.data, end="")
    print()


if __name__ == "__main__":
    asyncio.run(main())
