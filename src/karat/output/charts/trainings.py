"""Charts of trainings: the learning curves of generators."""

from __future__ import annotations

from karat.errors import counted
from karat.models.generators.curves import Course, Courses
from karat.output.charts.base import MOST, Chart, Curves, Spec, listed, names, number, panels, short

TITLE = "What generators learn"


def learning(found: Courses) -> list[Chart]:
    """The loss a word by the documents seen: of validation documents, and of training documents at the time."""
    shown = names(dict.fromkeys(each.name for each in found.courses[:MOST]))
    parts: list[Spec] = []
    columns = 2
    for field, what in (("valid", "validation documents"), ("loss", "training documents, as they are seen")):
        points = {
            shown[course.name]: [(line.documents, value) for line in course.lines if (value := getattr(line, field))]
            for course in found.courses[:MOST]
        }
        points = {name: some for name, some in points.items() if some}
        if points:
            curves = Curves(points, "documents seen", "loss a word", {}, False, list(shown.values()), shares=False)
            some, columns = curves.panels((300, 240), what)
            parts += some
    columns = max(columns, 2)
    corpora = listed(list(dict.fromkeys(each.corpus for each in found.courses)), 3)
    subtitle = f"Trained on {corpora}. The loss is the mean of −ln p of a word of the keyphrases; lower is better."
    said = listed([_said(course) for course in found.courses], 4)
    return [Chart("training", TITLE, panels("training", TITLE, subtitle, parts, columns), None, f"{TITLE}: {said}.")]


def _said(course: Course) -> str:
    last = course.lines[-1]
    value = last.loss if last.valid is None else last.valid
    kind = "training" if last.valid is None else "validation"
    return f"{short(course.name)}: {kind} loss {number(value)} after {counted(last.documents, 'document')}"
