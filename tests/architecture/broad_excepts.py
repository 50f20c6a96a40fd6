"""The boundaries at which any exception is caught, and why: the only broad excepts there are.

Each also carries `# noqa: BLE001` unless it raises again. A new one needs a line here and a good reason.
"""

from typing import NamedTuple


class Boundary(NamedTuple):
    """How many broad excepts a file has, and why they must be."""

    times: int
    reason: str


BROAD_EXCEPTS: dict[str, Boundary] = {
    "agents/model_step.py": Boundary(1, "a fault in a model call: what it has said is kept; it is raised again"),
    "agents/run_tasks.py": Boundary(1, "a task in the background: it ends with an id for the log, the run goes on"),
    "agents/tool_step.py": Boundary(1, "a task group wraps what its tasks raise; the first is raised again"),
    "artifacts/s3/bucket.py": Boundary(1, "bytes on their way through a library: what they raised is raised again"),
    "journal/session.py": Boundary(1, "what watches entries must not stop the journal"),
    "quotas/quotas.py": Boundary(1, "an adapter of counters: what cannot be counted is not done"),
    "notify/courier.py": Boundary(1, "a delivery to outside: the others must not wait for it"),
    "policy/conditions.py": Boundary(1, "a condition of a rule: what cannot be evaluated fails closed"),
    "runtime/catalog.py": Boundary(1, "a plugin's import: the operator is told which"),
    "runtime/engine.py": Boundary(2, "a session's owner: the others go on; a listener: it begins again"),
    "runtime/runtime.py": Boundary(1, "opening failed: what is open already is closed, then it is raised again"),
    "runtime/sandbox_kinds.py": Boundary(
        1, "a kind that does not work: what is open already is closed, then raised again"
    ),
    "runtime/sandboxes.py": Boundary(1, "opening failed: what is open already is closed, then it is raised again"),
    "runtime/owner.py": Boundary(1, "a run: it ends with an id that the log explains"),
    "sandbox/door.py": Boundary(1, "dialling failed: the sandbox is no longer held, then it is raised again"),
    "sandbox/docker/link.py": Boundary(1, "attaching failed: the connection is closed, then it is raised again"),
    "sandbox/pool.py": Boundary(2, "a start failed: what is left of it is removed, then it is raised again"),
    "sandbox/records.py": Boundary(1, "opening failed: the lock is given back, then it is raised again"),
    "sandbox/room.py": Boundary(1, "waiting ended: room that came meanwhile is given back, then it is raised again"),
    "sandbox/starting.py": Boundary(2, "a start failed: what is left of it is removed, then it is raised again"),
    "tools/builtin/pdf_text.py": Boundary(1, "a PDF made to break its reader: a process of its own says so and ends"),
    "server/app.py": Boundary(1, "the lifespan's start: the server is told, then it is raised again"),
    "server/endpoint.py": Boundary(1, "a request: it is answered with an id that the log explains"),
    "server/event_stream.py": Boundary(1, "a stream that has begun: it ends with an error event"),
    "stores/sqlite/reader.py": Boundary(1, "a query: it must not hurt the others"),
    "stores/sqlite/worker.py": Boundary(1, "the store's thread: whoever waits must be told"),
    "stores/sqlite/writer.py": Boundary(1, "an operation: it must not hurt the others"),
    "tools/own_chain.py": Boundary(2, "one's own stage: the call does not pass; what the chain raised is raised again"),
    "tools/stages/approval.py": Boundary(1, "the tool's own rule: when it fails, a person is asked"),
    "tools/child/worker.py": Boundary(2, "a tool's body in a process of its own: the model is told"),
    "tools/stages/run.py": Boundary(1, "a tool's body: the model is told"),
    "tools/tasks.py": Boundary(2, "a tool's task: what would end the loop becomes an error of the tool"),
    "tools/threads.py": Boundary(1, "a tool's body on a thread: its caller is told"),
    "tools/words.py": Boundary(1, "the words of what a tool raised: the tool's own code again"),
}
"""File below src/talaria, such as "tools/stages/run.py" → its broad excepts."""
