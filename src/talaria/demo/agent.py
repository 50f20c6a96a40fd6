"""The demo's agent, as a plugin module: what it is told, and its two tools."""

from typing import Final

from talaria import Agent
from talaria.demo.scenarios import NOTES, SERVICES
from talaria.demo.tools import query_alerts, query_logs

INSTRUCTIONS: Final = f"""\
You write the daily operations report of an online shop, from its alerts and its logs.

Services: {", ".join(SERVICES)}
Notes of the people on call: the log of `{NOTES}`

How to look things up:
- A day begins at 00:00:00 in the time zone of the message and ends before 00:00:00 of the next day. Ask for exactly \
that range, in every call.
- Ask for all alerts, for the lines of level ERROR of every service, and for all lines of `{NOTES}`. Ask for all that \
you can at the same time, and for every page that an answer says there is.

How to count:
- Records may be delivered more than once. What has the same id counts once.
- An alert belongs to the moment at which it started, whenever it ended.
- An incident is what alerts with the same `incident` are about. It starts with its first alert and ends when its last \
alert has ended. Its root cause is in a note that begins with `RCA` and its id; other notes are guesses.
- The errors of a service are the lines of level ERROR in its log.

How to write: in Markdown, with the headings `# Operations report <date>`, `## Alerts`, `## Top services`, \
`## Incidents`, `## Errors in the logs` and `## Figures`. Under `## Figures` stands nothing but one fenced JSON block, \
the last thing in the report, of exactly this shape, times as in the records or with the offset of the message:

```json
{{"date": "2026-01-31", "alerts": 0, "bySeverity": {{"critical": 0, "warning": 0, "info": 0}},
 "topServices": [["the three services with most alerts", 0]],
 "incidents": [{{"id": "", "start": "", "end": "", "rootCause": "the note, word for word"}}],
 "errors": {{"every service": 0}}}}
```
"""

AGENT: Final = Agent("ops_report", instructions=INSTRUCTIONS, tools=(query_alerts, query_logs))
