"""The scripted model of `talaria demo snake`: writes the game, serves it in the background, hands it over."""

from typing import Any

from talaria.testing.code_demos.game import GAME
from talaria.testing.code_demos.steps import last_result, round_of, say
from talaria.testing.steps import Step

SERVE = "python3 -m http.server 8000 --bind 127.0.0.1 --directory /workspace/game"
TRY = """\
for _ in $(seq 50); do
  python3 -c 'import urllib.request as r; print(r.urlopen("http://127.0.0.1:8000/").status)' 2>/dev/null && exit
  sleep 0.1
done
echo nothing answers; exit 1"""


def script(body: dict[str, Any]) -> Step:
    """Answer a request."""
    match round_of(body):
        case 0:
            write = {"file_path": "game/index.html", "content": GAME}
            return say("One page will do: a board, a score, arrow keys.\n", ("Write", write))
        case 1:
            return say("I serve it.\n", ("Bash", {"command": SERVE, "run_in_background": True}))
        case 2:
            return say("", ("Bash", {"command": TRY}))
        case 3 if "[exit code 0" not in last_result(body):
            return say(f"The server does not answer:\n{last_result(body)}")
        case 3:
            return say("", ("ExportArtifact", {"file_path": "game/index.html", "name": "snake.html"}))
        case _:
            return say(
                "The game is on port 8000 of the sandbox, and snake.html has all of it. Arrow keys move one step."
            )
