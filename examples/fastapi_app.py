"""Talaria inside a FastAPI application: an endpoint of yours that asks an agent, and all of Talaria's under /agents.

Start it with: uvicorn fastapi_app:app --app-dir examples
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

from talaria import Agent, Principal, Runtime, TalariaError, tool
from talaria.core.messages import ToolMessage
from talaria.server.app import make_app
from talaria.testing.scripted_model import Call, Say, ScriptedModel


@tool(side_effects=False)
def stock(article: str) -> int:
    """Say how many pieces of an article there are.

    Args:
        article: The article's number, such as A-1.
    """
    return {"A-1": 12}.get(article, 0)


def script(request):
    """What stands in for a model: it asks the tool once a turn, and says what that said."""
    last = request.prompt.messages[-1]
    return Say(f"There are {last.text}.") if isinstance(last, ToolMessage) else Call("stock", {"article": "A-1"})


clerk = Agent("clerk", instructions="You know what is in stock. Be brief.", tools=[stock])
if Path("talaria.yaml").exists():
    runtime = Runtime(agents=[clerk])
else:
    runtime = Runtime({"store": {"url": "memory://"}}, agents=[clerk], model=ScriptedModel(script=script))
talaria_app = make_app(runtime)


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    async with runtime:  # a mounted application has no lifespan of its own
        yield
        await talaria_app.stop(grace=20)


app = FastAPI(lifespan=lifespan)


class Question(BaseModel):
    user: str
    text: str


class Answer(BaseModel):
    text: str
    run_id: str


@app.post("/ask")
async def ask(question: Question) -> Answer:
    """Wait for the whole answer. The user comes from your own login; here it is taken at its word."""
    try:
        result = await runtime.run(clerk, question.text, principal=Principal("shop", question.user))
    except TalariaError as error:
        raise HTTPException(502, error.message) from error
    return Answer(text=result.text, run_id=result.run_id)


app.mount("/agents", talaria_app)  # POST /agents/ai-api/chat/stream, and everything else
