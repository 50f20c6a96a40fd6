"""Makes the pictures in docs/chat.md: a real chat in tmux with a scripted model, its screens as SVG."""

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from rich.console import Console
from rich.text import Text

from talaria.testing.steps import Step

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
TMUX = ("tmux", "-L", "talaria-images", "-f", os.devnull)
WIDTH, HEIGHT = 88, 44
PLUGIN = '''
from talaria import tool


@tool(side_effects=False)
async def look_up(order_id: str) -> dict[str, object]:
    """Look up an order.

    Args:
        order_id: The order.
    """
    return {"order": order_id, "items": [{"name": "teapot 茶壶", "price": 40}, {"name": "cup", "price": 8}]}


@tool(approval=True)
async def refund(order_id: str, amount: int) -> str:
    """Refund part of an order.

    Args:
        order_id: The order.
        amount: How much, in the currency of the order.
    """
    return f"refunded {amount} of {order_id}"
'''
ANSWER = """## Order A-1001

| item | price |
| --- | ---: |
| teapot 茶壶 | 40 |
| cup | 8 |

The teapot is **refunded**; the money is there *within three days*:

```python
refund(order_id="A-1001", amount=40)
```
"""
STEPS = [
    Step(reasoning="The teapot broke. What did it cost?", calls=(("look_up", {"order_id": "A-1001"}),), pace=0.05),
    Step(text="The teapot cost 40. I refund it.", calls=(("refund", {"order_id": "A-1001", "amount": 40}),), pace=0.03),
    Step(
        text="Paid back.",
        calls=(
            ("AskUser", {"question": "Shall I reserve another one?", "choices": ["No", "The same", "The blue one"]}),
        ),
        pace=0.02,
    ),
    Step(text=ANSWER, pace=0.02),
]


def tmux(*arguments: str) -> str:
    """Run a command of tmux."""
    return subprocess.run((*TMUX, *arguments), check=True, capture_output=True, text=True).stdout


def wait_for(text: str) -> None:
    """Wait until the terminal shows a text."""
    for _ in range(600):
        if text in tmux("capture-pane", "-p"):
            return
        time.sleep(0.05)  # noqa: TID251
    raise SystemExit(f"the terminal never showed {text!r}:\n{tmux('capture-pane', '-p')}")


def picture(name: str) -> None:
    """Write what the terminal shows now to docs/images/chat-NAME.svg."""
    screen = tmux("capture-pane", "-p", "-e").rstrip()
    console = Console(width=WIDTH, file=io.StringIO(), record=True, force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi(re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8000", screen)))
    svg = console.export_svg(title="talaria chat", unique_id=f"chat-{name}")
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)  # fonts from elsewhere
    (IMAGES / f"chat-{name}.svg").write_text("\n".join(line.rstrip() for line in svg.split("\n")), "utf-8")


def play(folder: Path, port: str) -> None:
    """Chat, and take the pictures."""
    (folder / "shop.py").write_text(PLUGIN)
    models = [{"prefix": "", "baseUrl": f"http://127.0.0.1:{port}/v1", "apiKey": "k"}]
    config = {"store": {"url": "memory://"}, "plugins": ["shop"], "defaultModel": "gpt-5-mini", "models": models}
    (folder / "talaria.yaml").write_bytes(msgspec.json.encode(config))
    command = shlex.join(["env", f"XDG_STATE_HOME={folder}", sys.executable, "-m", "talaria", "chat"])
    tmux("new-session", "-d", "-x", str(WIDTH), "-y", str(HEIGHT + 1), "-c", str(folder), command)
    wait_for("/help lists")
    tmux("send-keys", "-l", "The teapot of order A-1001 arrived broken")
    tmux("send-keys", "Enter")
    wait_for("Run it?")
    picture("approval")
    tmux("send-keys", "y")
    wait_for("your own words")
    picture("question")
    tmux("send-keys", "-l", "3")
    tmux("send-keys", "Enter")
    wait_for("refund(order_id")
    wait_for("· cost")
    picture("turn")
    tmux("send-keys", "-l", "/")
    wait_for("list the newest sessions")
    picture("commands")


def main() -> None:
    """Play a chat with a scripted model."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script = folder / "steps.json"
        script.write_bytes(msgspec.json.encode(STEPS))
        command = (sys.executable, "-m", "talaria.testing.model_server", "--script", str(script))
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as model:
            assert model.stdout is not None
            try:
                play(folder, model.stdout.readline().split()[1])
            finally:
                subprocess.run((*TMUX, "kill-server"), check=False, capture_output=True)
                model.kill()


if __name__ == "__main__":
    main()
