"""`talaria demo snake`: an agent writes a game, serves it from its sandbox, and hands it over."""

from talaria.demo.checks import Check
from talaria.demo.code.options import CodeOptions
from talaria.demo.code.turn import Turn, Visitor
from talaria.demo.screen import Screen

ABOUT = "an agent writes a snake game and serves it"
QUERY = "Write a snake game that I can play in the browser, serve it on port 8000, and give me the page as snake.html."
PORT = 8000
GAME = "snake.html"


async def visit(visitor: Visitor, screen: Screen, options: CodeOptions) -> list[Check]:
    """Ask, open the preview, and compare it with what was handed over."""
    screen.title(f"You: {QUERY}")
    turn = await visitor.ask(QUERY, {})
    checks = check_turn(turn)
    if GAME not in turn.downloads:
        return checks
    game = turn.downloads[GAME]
    (options.out / GAME).write_bytes(game.data)
    link = await visitor.preview(PORT)
    status, page = await visitor.get(link)
    screen.note(f"play it: {link}")
    screen.note(f"the page as a file: {options.out / GAME}, {game.url}")
    policy = game.headers.get("content-security-policy", "")
    return [
        *checks,
        Check("the preview shows the game", (status, page) == (200, game.data), f"status {status}"),
        Check("the handed over page has no origin of its server", _is_alone(policy), policy),
    ]


def check_turn(turn: Turn) -> list[Check]:
    """Return what can be said of the turn alone."""
    asked = ", ".join(turn.consents)
    game = turn.downloads.get(GAME)
    return [
        Check("the run ended with an answer", turn.outcome == "finish/stop", turn.outcome),
        Check("every command and the file asked first", turn.consents == ("Write", "Bash", "Bash"), asked),
        Check("the page was handed over", game is not None and b"<canvas" in game.data, ", ".join(turn.downloads)),
    ]


def _is_alone(policy: str) -> bool:
    return "sandbox" in policy.split() and "allow-same-origin" not in policy
