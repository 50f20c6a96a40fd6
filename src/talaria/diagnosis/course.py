"""The course of a run: its rounds, each with its model call and its tool calls, put together from the entries."""

import msgspec

from talaria.journal.entries import (
    AnswerRejected,
    ApprovalRequested,
    ApprovalResolved,
    ModelFinished,
    RunFinished,
    RunParked,
    RunResumed,
    StepFinished,
    ToolFinished,
    ToolStarted,
)
from talaria.journal.recorded import RecordedRun


class CourseCall(msgspec.Struct):
    """A tool call. `arguments` is what the model wrote; `waited_ms` how long a person was waited for, None if none."""

    id: str
    name: str
    arguments: str
    finished: ToolFinished | None = None
    was_started: bool = False
    repairs: tuple[str, ...] = ()
    asked: ApprovalRequested | None = None
    resolved: ApprovalResolved | None = None

    @property
    def waited_ms(self) -> int | None:
        """How long a person was waited for, None if nobody was."""
        return None if self.asked is None or self.resolved is None else self.resolved.at - self.asked.at


class CourseRound(msgspec.Struct):
    """A model call and what it decided on. `retries`: attempts before this answer that came to nothing."""

    number: int
    answer: ModelFinished
    retries: int = 0
    calls: list[CourseCall] = []


class Course(msgspec.Struct):
    """What a run did, in order. `elapsed_ms` is from its start to its end, or to the last that is known of it."""

    run: RecordedRun
    rounds: list[CourseRound] = []
    steps: list[StepFinished] = []
    calls: list[CourseCall] = []
    rejected: list[AnswerRejected] = []
    recoveries: int = 0
    parked_ms: int = 0
    elapsed_ms: int = 0
    end: RunFinished | None = None


def course_of(run: RecordedRun) -> Course:
    """Put the course of a run together."""
    course = Course(run)
    by_id: dict[str, CourseCall] = {}
    place, parked_at = run.answered, 0
    for entry in run.entries:
        match entry:
            case ModelFinished():
                course.rounds.append(_round(entry, place))
                place = (entry.epoch, entry.attempt)
                for call in course.rounds[-1].calls:
                    by_id[call.id] = call
            case StepFinished():
                course.steps.append(entry)
            case AnswerRejected():
                course.rejected.append(entry)
            case RunParked():
                parked_at = entry.at
            case RunResumed():
                course.parked_ms += entry.at - parked_at if parked_at else 0
                course.recoveries += entry.why == "recovered"
                parked_at = 0
            case RunFinished():
                course.end = entry
            case ToolStarted() | ToolFinished() | ApprovalRequested() | ApprovalResolved():
                _call_goes_on(by_id.setdefault(entry.call_id, CourseCall(entry.call_id, _name(entry), "{}")), entry)
            case _:
                pass
    course.calls = list(by_id.values())
    course.elapsed_ms = run.entries[-1].at - run.turn.at
    return course


def _round(answer: ModelFinished, before: tuple[int, int]) -> CourseRound:
    epoch, attempt = before
    earlier = attempt if epoch == answer.epoch else 0
    calls = () if answer.message.incomplete else answer.message.calls
    return CourseRound(
        answer.round,
        answer,
        max(0, answer.attempt - earlier - 1),
        [CourseCall(call.id, call.name, call.arguments) for call in calls],
    )


def _name(entry: ToolStarted | ToolFinished | ApprovalRequested | ApprovalResolved) -> str:
    return "" if isinstance(entry, ApprovalResolved) else entry.name


def _call_goes_on(call: CourseCall, entry: ToolStarted | ToolFinished | ApprovalRequested | ApprovalResolved) -> None:
    match entry:
        case ToolStarted():
            call.was_started, call.repairs = True, entry.repairs
        case ToolFinished():
            call.finished = entry
        case ApprovalRequested():
            call.asked = entry
        case ApprovalResolved():
            call.resolved = entry
