"""The pictures of the page on generators: `python -m docs.pictures` writes docs/pictures/NAME.svg.

A picture is boxes in columns and rows, and arrows between their sides. `GRU.right` is the middle of a side of the box
`GRU`, `GRU.top:.2` a fifth of the way along it. An arrow goes across and up and down alone, and turns where it must.
`tests/test_docs.py` says whether the files are what this makes.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path

FOLDER = Path(__file__).parent / "pictures"

WIDTH, MARGIN, GAP = 640, 18, 40  # of the picture, around it, between columns
COLUMN = (WIDTH - 2 * MARGIN - 3 * GAP) // 4  # four columns
ROW, HIGH = 92, 56  # from one row to the next, and of a box
LINE, OUT = 15, 12  # between two lines of text, and how far an arrow goes around boxes
FILLS = {"data": "#ffffff", "part": "#dbe8f6", "new": "#fde3b8"}  # words; a part of a network; what is new
INK, SHADE = "#1f2933", "#52606d"


@dataclass(frozen=True)
class Box:
    """A box with lines of text, at a column and a row; `wide` and `tall` say how many of these it covers."""

    column: float
    row: float
    text: str
    kind: str = "part"
    wide: float = 1
    tall: float = 1

    @property
    def place(self) -> tuple[float, float, float, float]:
        """(left, top, width, height)."""
        left = MARGIN + self.column * (COLUMN + GAP)
        top = MARGIN + self.row * ROW
        return left, top, self.wide * (COLUMN + GAP) - GAP, self.tall * ROW - (ROW - HIGH)

    def end(self, side: str, along: float) -> tuple[float, float]:
        """A point of a side, from left or top."""
        left, top, width, height = self.place
        if side in ("left", "right"):
            return left + width * (side == "right"), top + height * along
        return left + width * along, top + height * (side == "bottom")


@dataclass(frozen=True)
class Arrow:
    """An arrow from a side of a box to a side of another; `dashed` where it goes to the next word or step."""

    start: str
    end: str
    text: str = ""
    dashed: bool = False


@dataclass(frozen=True)
class Picture:
    """Boxes by name, arrows between them, and what is said below."""

    title: str
    boxes: dict[str, Box]
    arrows: tuple[Arrow, ...]
    below: str = ""
    head: float = 0  # room above the boxes

    def svg(self) -> str:
        """The picture as a file."""
        boxes, arrows = self.boxes.values(), [self.line(arrow) for arrow in self.arrows]
        bottom = max(box.place[1] + box.place[3] for box in boxes)
        height = bottom + self.head + MARGIN + (24 if self.below else 0)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" '
            f'height="{height:g}" role="img" font-family="Helvetica, Arial, sans-serif" font-size="12">',
            f"<title>{escape(self.title)}</title>",
            f'<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
            f'markerUnits="userSpaceOnUse" '
            f'orient="auto"><path d="M0 0 8 4 0 8z" fill="{SHADE}"/></marker></defs>',
            f'<rect width="{WIDTH}" height="{height:g}" rx="8" fill="#f7f9fb"/>',
            f'<g transform="translate(0 {self.head:g})">',
            *arrows,
            *map(draw_box, boxes),
            *([draw_text(WIDTH / 2, bottom + 24, self.below, SHADE)] if self.below else []),
            "</g>",
            "</svg>",
        ]
        return "\n".join(parts) + "\n"

    def line(self, arrow: Arrow) -> str:
        """An arrow from side to side."""
        (start, first), (end, last) = (self.side(each) for each in (arrow.start, arrow.end))
        return draw_arrow(route(start, first, end, last), arrow)

    def side(self, text: str) -> tuple[tuple[float, float], str]:
        """(the point, the side) that `NAME.SIDE` or `NAME.SIDE:ALONG` means."""
        name, _, where = text.partition(".")
        side, _, along = where.partition(":")
        return self.boxes[name].end(side, float(along or 0.5)), side


def column(at: int, many: int) -> float:
    """How far along the top of a box of many columns the middle of one is."""
    return (at * (COLUMN + GAP) + COLUMN / 2) / (many * (COLUMN + GAP) - GAP)


def row(at: int, many: int) -> float:
    """How far down the side of a box of many rows the middle of one is."""
    return (at * ROW + HIGH / 2) / (many * ROW - ROW + HIGH)


def route(start: tuple[float, float], first: str, end: tuple[float, float], last: str) -> list[tuple[float, float]]:
    """The corners of a line from a side to a side, both ends included."""
    (x, y), (u, v) = start, end
    across, down = {"left", "right"}, {"top", "bottom"}
    if {first, last} <= across:
        middle = (x + u) / 2 if first != last else max(x, u) + OUT if first == "right" else min(x, u) - OUT
        return [start, end] if abs(y - v) < 0.01 else [start, (middle, y), (middle, v), end]
    if {first, last} <= down:
        middle = (y + v) / 2 if first != last else max(y, v) + OUT if first == "bottom" else min(y, v) - OUT
        return [start, end] if abs(x - u) < 0.01 else [start, (x, middle), (u, middle), end]
    return [start, (u, y) if first in across else (x, v), end]


def draw_text(x: float, y: float, text: str, fill: str, anchor: str = "middle") -> str:
    """A line of text."""
    return f'<text x="{x:g}" y="{y:g}" fill="{fill}" text-anchor="{anchor}">{escape(text)}</text>'


def draw_box(box: Box) -> str:
    """A box and its lines, in its middle."""
    left, top, width, height = box.place
    lines = box.text.split("\n")
    first = top + height / 2 + 4 - (len(lines) - 1) * LINE / 2
    rect = f'<rect x="{left:g}" y="{top:g}" width="{width:g}" height="{height:g}" rx="5" fill="{FILLS[box.kind]}" '
    drawn = [draw_text(left + width / 2, first + at * LINE, line, INK) for at, line in enumerate(lines)]
    return "\n".join([f'{rect}stroke="{SHADE}"/>', *drawn])


def draw_arrow(corners: list[tuple[float, float]], arrow: Arrow) -> str:
    """A line with a tip, and its text beside the longest part of it."""
    points = " ".join(f"{x:g},{y:g}" for x, y in corners)
    dashes = ' stroke-dasharray="5 3"' if arrow.dashed else ""
    line = (
        f'<polyline points="{points}" fill="none" stroke="{SHADE}" stroke-width="1.4"{dashes} marker-end="url(#tip)"/>'
    )
    if not arrow.text:
        return line
    (x, y), (u, v) = max(
        pairwise(corners), key=lambda part: abs(part[0][0] - part[1][0]) + abs(part[0][1] - part[1][1])
    )
    if x == u:
        return "\n".join([line, draw_text(x + 6, (y + v) / 2 + 4, arrow.text, SHADE, "start")])
    return "\n".join([line, draw_text((x + u) / 2, y - 5, arrow.text, SHADE)])


# ---------------------------------------------------------------------------------------------- the pictures

COPY = Box(3, 0, "copied: Σ α[t, n]\nover the places of w")
BOTH = Box(3, 2, "P(w) = g · written\n+ (1 − g) · copied")
TO_BOTH = (Arrow("written.bottom", "both.top"), Arrow("copied.right", "both.right"))

COPYRNN = Picture(
    "copyrnn: a bidirectional GRU reads, a GRU writes or copies",
    {
        "source": Box(0, 0, "title <text>\ntext", "data"),
        "encoder": Box(1, 0, "bidirectional\nGRU: m[n]"),
        "attention": Box(2, 0, "attention α[t, n]\nof s[t] on m[n]"),
        "copied": COPY,
        "last": Box(0, 1, "the last word", "data"),
        "decoder": Box(1, 1, "GRU: s[t]"),
        "seen": Box(2, 1, "s[t] and\ncontext c[t]"),
        "written": Box(3, 1, "written:\nsoftmax of words"),
        "gate": Box(2, 2, "gate g, also\nof the last word"),
        "both": BOTH,
    },
    (
        Arrow("source.right", "encoder.left"),
        Arrow("encoder.right", "attention.left"),
        Arrow("attention.right", "copied.left"),
        Arrow("encoder.bottom:.3", "decoder.top:.3", "last state"),
        Arrow("last.right", "decoder.left"),
        Arrow("decoder.right", "seen.left"),
        Arrow("decoder.top:.85", "attention.bottom:.15"),
        Arrow("attention.bottom:.6", "seen.top:.6", "Σ α m"),
        Arrow("seen.right", "written.left"),
        Arrow("seen.bottom", "gate.top"),
        Arrow("gate.right", "both.left"),
        *TO_BOTH,
    ),
)

CORRRNN = Picture(
    "corrrnn: a copyrnn with coverage and review",
    {
        "coverage": Box(2, 0, "coverage k[t]:\nα of places before t", "new"),
        "source": Box(0, 1, "title <text>\ntext", "data"),
        "encoder": Box(1, 1, "bidirectional\nGRU: m[n]"),
        "attention": Box(2, 1, "attention α[t, n]\nof s[t] on m[n]"),
        "copied": Box(3, 1, COPY.text),
        "last": Box(0, 2, "the last word", "data"),
        "decoder": Box(1, 2, "GRU: s[t]"),
        "seen": Box(2, 2, "s[t], c[t]\nand review"),
        "written": Box(3, 2, "written:\nsoftmax of words"),
        "review": Box(1, 3, "review: attention\non s[0] … s[t − 1]", "new"),
        "gate": Box(2, 3, "gate g, not of\nthe review"),
        "both": Box(3, 3, BOTH.text),
    },
    (
        Arrow("source.right", "encoder.left"),
        Arrow("encoder.right", "attention.left"),
        Arrow("attention.right", "copied.left"),
        Arrow("coverage.bottom:.3", "attention.top:.3"),
        Arrow("attention.top:.7", "coverage.bottom:.7", "adds up", dashed=True),
        Arrow("encoder.bottom:.3", "decoder.top:.3", "last state"),
        Arrow("last.right", "decoder.left"),
        Arrow("decoder.right", "seen.left"),
        Arrow("decoder.top:.85", "attention.bottom:.15"),
        Arrow("attention.bottom:.6", "seen.top:.6", "Σ α m"),
        Arrow("decoder.bottom", "review.top"),
        Arrow("review.top:.8", "seen.bottom:.2"),
        Arrow("seen.right", "written.left"),
        Arrow("seen.bottom:.6", "gate.top:.6"),
        Arrow("gate.right", "both.left"),
        *TO_BOTH,
    ),
    "yellow: what copyrnn does not have",
)

TGNET = Picture(
    "tgnet: the title is read apart, and each token asks it",
    {
        "source": Box(0, 0, "title <text>\ntext", "data"),
        "states": Box(1, 0, "bidirectional\nGRU: u[n]"),
        "merging": Box(2, 0, "merging GRU\nof [u[n]; c[n]]", "new"),
        "half": Box(3, 0, "m[n] = ½ u[n]\n+ ½ merged[n]", "new"),
        "title": Box(0, 1, "title", "data"),
        "titles": Box(1, 1, "bidirectional\nGRU: v[k]", "new"),
        "ask": Box(2, 1, "u[n] attends to v:\ncontext c[n]", "new"),
        "decoder": Box(3, 1, "attention, GRU and\ncopying of copyrnn"),
    },
    (
        Arrow("source.right", "states.left"),
        Arrow("title.right", "titles.left"),
        Arrow("states.right", "merging.left"),
        Arrow("states.bottom:.8", "ask.top:.2"),
        Arrow("titles.right", "ask.left"),
        Arrow("ask.top:.7", "merging.bottom:.7"),
        Arrow("merging.right", "half.left"),
        Arrow("states.top", "half.top"),
        Arrow("half.bottom", "decoder.top"),
    ),
    "yellow: what copyrnn does not have; the decoder begins with the last state of the merging GRU",
    head=6,
)

TGRF = Picture(
    "tgrf: phrases are drawn, and rewarded by how much better they are than greedy ones",
    {
        "model": Box(0, 0, "a trained tgnet\n(peos=always)", tall=2),
        "drawn": Box(1, 0, "drawn phrases", "data"),
        "greedy": Box(1, 1, "greedy phrases", "data"),
        "reward": Box(2, 0, "R: F1 with the\nreferences", "new"),
        "baseline": Box(2, 1, "R greedy: the\nsame, as a baseline", "new"),
        "loss": Box(3, 0, "loss = − Σ\n(R − R greedy)[t]\n· log p(word t)", "new", tall=2),
    },
    (
        Arrow(f"model.right:{row(0, 2)}", "drawn.left"),
        Arrow(f"model.right:{row(1, 2)}", "greedy.left"),
        Arrow("drawn.right", "reward.left"),
        Arrow("greedy.right", "baseline.left"),
        Arrow("reward.right", f"loss.left:{row(0, 2)}"),
        Arrow("baseline.right", f"loss.left:{row(1, 2)}"),
        Arrow("loss.top", "model.top", "the weights change", dashed=True),
    ),
    "the reward of present phrases arrives at <peos>, that of absent ones at <eos>",
    head=20,
)

EXHIRD = Picture(
    "exhird: one GRU goes from phrase to phrase, another writes the words of each",
    {
        "encoder": Box(0, 0, "two layers of\nbidirectional\nGRUs: m[n]"),
        "p1": Box(1, 0, "phrase p[1]", "new"),
        "p2": Box(2, 0, "phrase p[2]", "new"),
        "p3": Box(3, 0, "phrase p[3]", "new"),
        "s1": Box(1, 1, "words s[1, j]:\nhoney bees <sep>"),
        "s2": Box(2, 1, "words s[2, j]:\ndances <peos>"),
        "s3": Box(3, 1, "words s[3, j]:\ninsects <eos>"),
        "attention": Box(
            1,
            2,
            "attention on m[n], also for copying: softmax(s · A m) · softmax(p · B m),\nmade to add up to 1",
            wide=3,
        ),
    },
    (
        Arrow("encoder.right", "p1.left"),
        Arrow("p1.right", "p2.left"),
        Arrow("p2.right", "p3.left"),
        Arrow("p1.bottom:.25", "s1.top:.25", "begins"),
        Arrow("p2.bottom:.25", "s2.top:.25", "begins"),
        Arrow("p3.bottom:.25", "s3.top:.25", "begins"),
        Arrow("s1.top:.85", "p2.bottom:.1", dashed=True),
        Arrow("s2.top:.85", "p3.bottom:.1", dashed=True),
        Arrow(f"attention.top:{column(0, 3)}", "s1.bottom"),
        Arrow("attention.top:.5", "s2.bottom"),
        Arrow(f"attention.top:{column(2, 3)}", "s3.bottom"),
        Arrow("encoder.bottom", "attention.left"),
    ),
    "-h forbids a phrase the first words of the phrases before it when decoding; -s makes them cost in training",
)

TRANSFORMER = Picture(
    "transformer: layers of attention read and write, one more attention points at what is copied",
    {
        "source": Box(0, 0, "title <text> text,\nwith places", "data"),
        "encoder": Box(1, 0, "N layers: own\nattention, network"),
        "attention": Box(2, 0, "pointer α[t, n]\nof s[t] on m[n]"),
        "copied": COPY,
        "last": Box(0, 1, "the words before,\nwith places", "data"),
        "decoder": Box(1, 1, "N layers, also\nattention on m: s[t]"),
        "written": Box(3, 1, "written: softmax\nof s[t] · words"),
        "gate": Box(2, 2, "gate g of s[t]\nand Σ α m"),
        "both": BOTH,
    },
    (
        Arrow("source.right", "encoder.left"),
        Arrow("encoder.right", "attention.left"),
        Arrow("attention.right", "copied.left"),
        Arrow("encoder.bottom:.3", "decoder.top:.3", "m[n]"),
        Arrow("last.right", "decoder.left"),
        Arrow("decoder.top:.85", "attention.bottom:.15"),
        Arrow("decoder.right", "written.left", "s[t]"),
        Arrow("decoder.bottom", "gate.left"),
        Arrow("attention.bottom:.8", "gate.top:.8"),
        Arrow("gate.right", "both.left"),
        *TO_BOTH,
    ),
)

ONE2SET = Picture(
    "one2set: slots with codes write in parallel, and references are assigned to them",
    {
        "encoder": Box(0, 0, "encoder of\ntransformer: m[n]", tall=4),
        "c1": Box(1, 0, "decoder with the\ncode of slot 1", "new"),
        "c2": Box(1, 1, "decoder with the\ncode of slot 2", "new"),
        "c3": Box(1, 2, "decoder with the\ncode of slot 11", "new"),
        "c4": Box(1, 3, "decoder with the\ncode of slot 12", "new"),
        "w1": Box(2, 0, "<null>", "data"),
        "w2": Box(2, 1, "honey bees", "data"),
        "w3": Box(2, 2, "insects", "data"),
        "w4": Box(2, 3, "<null>", "data"),
        "present": Box(3, 0, "Hungarian\nassignment of\npresent references\nto slots 1 to 10", "new", tall=2),
        "absent": Box(3, 2, "Hungarian\nassignment of\nabsent references\nto slots 11 to 20", "new", tall=2),
    },
    (
        *(Arrow(f"encoder.right:{row(at, 4)}", f"c{at + 1}.left") for at in range(4)),
        *(Arrow(f"c{at}.right", f"w{at}.left") for at in range(1, 5)),
        *(Arrow(f"w{at + 1}.right", f"present.left:{row(at, 2)}") for at in range(2)),
        *(Arrow(f"w{at + 3}.right", f"absent.left:{row(at, 2)}") for at in range(2)),
    ),
    "references go to the slots that are most likely to write them; a slot without one learns <null>",
)

UNIKP = Picture(
    "unikp: one encoder tags present keyphrases and writes absent ones, with relation layers between the two",
    {
        "source": Box(0, 0, "pieces of the\nsource", "data"),
        "target": Box(0, 1, "pieces that are\nwritten so far", "data"),
        "encoder": Box(1, 0, "encoder of\nBERT's kind with\na prefix mask", tall=2),
        "present": Box(2, 0, "states of present\nkeyphrases", "new"),
        "absent": Box(2, 1, "states of absent\nkeyphrases", "new"),
        "tags": Box(3, 0, "tags O, B, I, X", "data"),
        "next": Box(3, 1, "next piece", "data"),
    },
    (
        Arrow("source.right", f"encoder.left:{row(0, 2)}"),
        Arrow("target.right", f"encoder.left:{row(1, 2)}"),
        Arrow(f"encoder.right:{row(0, 2)}", "present.left"),
        Arrow(f"encoder.right:{row(1, 2)}", "absent.left"),
        Arrow("present.bottom:.2", "absent.top:.2", "look at"),
        Arrow("absent.top:.85", "present.bottom:.85"),
        Arrow("present.right", "tags.left"),
        Arrow("absent.right", "next.left"),
    ),
    "the source sees all of the source and no target; a target sees the source and what is written before it",
)

KPDROP = Picture(
    "KPDrop: a present phrase is masked in the source and becomes an absent one",
    {
        "source": Box(0, 0, "source: honey bees dance", "data", wide=1.5),
        "target": Box(0, 1, "present: honey bees, dance\nabsent: insects", "data", wide=1.5),
        "masked": Box(2.5, 0, "source: <null> dance", "new", wide=1.5),
        "moved": Box(2.5, 1, "present: dance\nabsent: insects, honey bees", "new", wide=1.5),
    },
    (
        Arrow("source.right", "masked.left", "masks honey bees"),
        Arrow("target.right", "moved.left", "moves honey bees"),
    ),
    "each present phrase with probability .7, drawn anew in each epoch",
)

COMPOSED = Picture(
    "60p: the title of a document with the text of another that shares most of its keyphrases",
    {
        "a": Box(0, 0, "document A: title, text\nbees, dances, honey", "data", wide=1.5),
        "b": Box(0, 1, "document B: title, text\nbees, dances, flowers", "data", wide=1.5),
        "new": Box(2.5, 0, "one more example:\ntitle of A\ntext of B\nbees, dances", "new", wide=1.5, tall=2),
    },
    (
        Arrow("a.right", f"new.left:{row(0, 2)}", "title"),
        Arrow("b.right", f"new.left:{row(1, 2)}", "text"),
    ),
    "A and B share 2 of 3 keyphrases, which is .6 or more",
)

GUIDE = Picture(
    "guides: phrases of another system stand before the source",
    {
        "document": Box(0, 0.5, "document", "data"),
        "extractor": Box(1, 0, "an extractor,\nor a run", "new"),
        "guide": Box(2, 0, "phrase <sep>\nphrase <peos>", "data"),
        "source": Box(2, 1, "title <text>\ntext", "data"),
        "generator": Box(3, 0.5, "any generator"),
    },
    (
        Arrow("document.top", "extractor.left"),
        Arrow("extractor.right", "guide.left"),
        Arrow("document.bottom", "source.left"),
        Arrow("guide.right", "generator.top"),
        Arrow("source.right", "generator.bottom"),
    ),
)

PICTURES = {
    "copyrnn": COPYRNN,
    "corrrnn": CORRRNN,
    "tgnet": TGNET,
    "tgrf": TGRF,
    "exhird": EXHIRD,
    "transformer": TRANSFORMER,
    "one2set": ONE2SET,
    "unikp": UNIKP,
    "kpdrop": KPDROP,
    "60p": COMPOSED,
    "guide": GUIDE,
}


def main() -> None:
    """Writes every picture."""
    for name, picture in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(picture.svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
