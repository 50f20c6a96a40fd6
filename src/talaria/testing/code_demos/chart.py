"""The scripted model of `talaria demo chart`: looks at the table, writes a script, runs it, hands over the picture."""

from typing import Any

from talaria.testing.code_demos.steps import last_result, round_of, say
from talaria.testing.steps import Step

PROGRAM = """\
import csv

import matplotlib.pyplot as plt

with open("销售.csv", encoding="utf-8-sig", newline="") as file:
    months, *series = zip(*csv.reader(file))

figure, axes = plt.subplots(figsize=(10, 5.5), dpi=120)
for name, *values in series:
    numbers = [float(value) for value in values]
    axes.plot(months[1:], numbers, marker="o", label=name)
    print(f"{name}：最高 {max(numbers):g}（{months[1 + numbers.index(max(numbers))]}），合计 {sum(numbers):g}")
axes.set_title("各月销售额")
axes.set_xlabel(months[0])
axes.set_ylabel("销售额（万元）")
axes.grid(alpha=0.3)
axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
figure.tight_layout()
for name in ("chart.png", "chart.svg"):
    figure.savefig(name)
"""


def script(body: dict[str, Any]) -> Step:
    """Answer a request."""
    match round_of(body):
        case 0:
            return say("我先看一下附件。\n", ("Read", {"file_path": "销售.csv"}))
        case 1:
            return say("两列数据，按月。我写一个脚本。\n", ("Write", {"file_path": "chart.py", "content": PROGRAM}))
        case 2:
            return say("", ("Bash", {"command": "python3 chart.py"}))
        case 3 if "[exit code 0" not in last_result(body):
            return say(f"脚本没有成功：\n{last_result(body)}")
        case 3:
            files = ("chart.png", "chart.svg")
            return say("", *(("ExportArtifact", {"file_path": each}) for each in files))
        case _:
            return say("折线图画好了：chart.png 和 chart.svg。线上销售额在十一月最高，门店销售额比较平稳。")
