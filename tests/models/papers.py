"""PDFs that are made in a test: pages of lines, perhaps with a title among the facts that the file tells."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pypdf


def pdf_of(pages: Sequence[Sequence[str]], title: str | None = None) -> bytes:
    """A PDF of pages, each of them some lines of text."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    kids = []
    for lines in pages:
        shown = "".join(f"({line}) Tj T* " for line in lines)
        stream = f"BT /F1 12 Tf 14 TL 72 720 Td {shown}ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        fonts = f"<< /Font << /F1 {font} >> >>"
        size = "/MediaBox [0 0 612 792]"
        objects.append(f"<< /Type /Page /Parent 2 0 R {size} /Resources {fonts} /Contents {len(objects)} 0 R >>")
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    facts = ""
    if title is not None:
        objects.append(f"<< /Title ({title}) >>")
        facts = f" /Info {len(objects)} 0 R"
    return _file(objects, facts)


def _file(objects: Sequence[str], facts: str) -> bytes:
    content = b"%PDF-1.4\n"
    places = []
    for number, each in enumerate(objects, 1):
        places.append(len(content))
        content += f"{number} 0 obj\n{each}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R{facts} >>\n"
    return content + f"{end}startxref\n{len(content)}\n%%EOF\n".encode()


def encrypted(content: bytes) -> bytes:
    """The PDF with a password."""
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(content))
    writer.encrypt("open sesame", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()
