"""A folder of documents as people have them, made anew from its seed: `python -m tests.folders FOLDER`.

Thirty documents, six each as text, Markdown, HTML, docx and PDF, in two folders, every other one with references in a
.key or .tsv file beside it; and with `bad`, what is found in such folders too: an encrypted PDF, a scan without text,
broken files, a docx file that unpacks to gigabytes, and files that are no documents. No library writes the files, so
that the same bytes come out everywhere (the encrypted PDF is pypdf's).
"""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from random import Random

from tests.models.papers import encrypted, pdf_of

SEED = 22
COUNT = 30
SUFFIXES = (".txt", ".md", ".html", ".docx", ".pdf")
SUBJECTS = ("honey bees", "paper wasps", "leaf ants", "field moths", "river gnats", "black beetles")
PLACES = ("mountain meadows", "city gardens", "river banks", "old orchards", "wet forests")
METHODS = ("waggle dances", "nest counts", "scent trails", "wing beats", "light traps")
FACTS = (
    "The {subject} of {place} were observed for ten summers.",
    "We count {method} in {place} and compare them with the weather.",
    "Warm summers bring more {subject}, and the {method} become longer.",
    "Our model of {method} tells the direction of flowers.",
    "Food sources near {place} decide where {subject} build their nests.",
)
URI = "http://example.org/subjects/"
SCRIPT = "<script>var tracker = 'do not index this';</script><style>p { color: red }</style>"

BAD = ("broken.docx", "broken.pdf", "bomb.docx", "locked.pdf", "scan.pdf", "empty.html")  # cannot be read
OTHERS = ("cover.png", "~$doc03.docx", ".hidden.txt")  # are no documents


def identifier(number: int) -> str:
    """The id of a document: half of them lie in a folder below."""
    return f"{'reports/' if number % 2 else ''}doc{number:02}"


def suffix(number: int) -> str:
    """The suffix of its file."""
    return SUFFIXES[number % len(SUFFIXES)]


def title(number: int) -> str:
    """Its title."""
    subject, place = SUBJECTS[number % len(SUBJECTS)], PLACES[number % 7 % len(PLACES)]
    return f"{subject.capitalize()} in {place}, part {number}"


def sentences(number: int) -> list[str]:
    """The sentences of its text."""
    chance = Random(SEED * 1000 + number)
    subject, place = SUBJECTS[number % len(SUBJECTS)], PLACES[number % 7 % len(PLACES)]
    return [each.format(subject=subject, place=place, method=chance.choice(METHODS)) for each in FACTS]


def references(number: int) -> list[str] | None:
    """Its references; None where it has none."""
    if number % 2:
        return None
    return [SUBJECTS[number % len(SUBJECTS)], PLACES[number % 7 % len(PLACES)], "insect ecology"]


def make(folder: Path, bad: bool = False) -> Path:
    """Writes the folder."""
    (folder / "reports").mkdir(parents=True, exist_ok=True)
    for number in range(COUNT):
        name, kind = identifier(number), suffix(number)
        (folder / f"{name}{kind}").write_bytes(WRITERS[kind](title(number), sentences(number)))
        phrases = references(number)
        if phrases is not None and number % 4:
            lines = (f"<{URI}{at}>\t{phrase}\n" for at, phrase in enumerate(phrases))
            (folder / f"{name}.tsv").write_text("".join(lines))
        elif phrases is not None:
            (folder / f"{name}.key").write_text("".join(f"{phrase}\n" for phrase in phrases))
    if bad:
        _make_bad(folder)
    return folder


def _make_bad(folder: Path) -> None:
    good = docx_of("A title", ["A text."])
    held = {
        "broken.docx": good[: len(good) // 2],
        "broken.pdf": pdf_of([["On Bees", "They fly."]])[:80],
        "bomb.docx": bomb(),
        "locked.pdf": encrypted(pdf_of([["On Bees", "They fly over the fields."]])),
        "scan.pdf": pdf_of([[], []]),
        "empty.html": f"<html><head><title>App</title></head><body>{SCRIPT}</body></html>".encode(),
        "cover.png": b"\x89PNG\r\n",
        "~$doc03.docx": b"\x05admin",
        ".hidden.txt": b"no",
    }
    for name, content in held.items():
        (folder / name).write_bytes(content)
    (folder / "locked.key").write_text("bees\n")


# ---------------------------------------------------------------------------------------------- writers


def _text(title: str, lines: list[str]) -> bytes:
    return "\n".join([title, "", *lines, ""]).encode()


def _markdown(title: str, lines: list[str]) -> bytes:
    return "\n".join([f"# {title}", "", *lines, ""]).encode()


def html_of(title: str, lines: list[str]) -> bytes:
    """A page with a script, a style and a menu, which are no text."""
    body = "".join(f"<p>{line.replace('We count', 'We <b>count</b>')}</p>" for line in lines)
    head = f'<meta charset="utf-8"><title>{title}</title>{SCRIPT}'
    shown = f"<nav>Home | Contact</nav><h1>{title}</h1>{body}{SCRIPT}"
    return f"<!doctype html><html><head>{head}</head><body>{shown}</body></html>".encode()


def _pdf(title: str, lines: list[str]) -> bytes:
    return pdf_of([[title, *lines]])


WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def docx_of(title: str, lines: list[str], body: str = "") -> bytes:
    """A docx file with a title, paragraphs, and more of its XML behind these."""
    first = f'<w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr><w:r><w:t>{title}</w:t></w:r></w:p>'
    rest = "".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in lines)
    held = f'<w:document xmlns:w="{WORD}"><w:body>{first}{rest}{body}</w:body></w:document>'
    document = f'<?xml version="1.0" encoding="UTF-8"?>{held}'
    return zip_of({"[Content_Types].xml": CONTENT_TYPES, "_rels/.rels": RELATIONS, "word/document.xml": document})


CONTENT_TYPES = (
    '<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'wordprocessingml.document.main+xml"/></Types>'
)
RELATIONS = (
    '<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
    'relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
    'officeDocument" Target="word/document.xml"/></Relationships>'
)


def zip_of(members: Mapping[str, str | bytes]) -> bytes:
    """A zip archive, the same bytes each time."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            member = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, content)
    return made.getvalue()


def bomb(size: int = 400_000_000) -> bytes:
    """A docx file of some hundred kB whose document unpacks to that many bytes."""
    made, piece = io.BytesIO(), b"<w:p/>" * 100_000
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        member = zipfile.ZipInfo("word/document.xml", (2020, 1, 1, 0, 0, 0))
        member.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(member, "w") as file:
            for _ in range(size // len(piece)):
                file.write(piece)
    return made.getvalue()


WRITERS = {
    ".txt": _text,
    ".md": _markdown,
    ".html": html_of,
    ".docx": docx_of,
    ".pdf": _pdf,
}

if __name__ == "__main__":
    make(Path(sys.argv[1]), bad="--good" not in sys.argv)
