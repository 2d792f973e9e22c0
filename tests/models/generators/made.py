"""Documents that are made up, for generators to learn by heart."""

from karat.corpus import Document

TOPICS = [
    "graph",
    "tree",
    "heap",
    "list",
    "hash",
    "sort",
    "search",
    "cache",
    "lock",
    "queue",
    "stack",
    "node",
    "edge",
    "path",
    "flow",
    "cut",
]
DOCUMENTS = [
    Document(
        id=f"d{n}",
        title=f"On {TOPICS[n % 16]} {TOPICS[(n * 7 + 3) % 16]} structures",
        text=f"We look at {TOPICS[(n * 5 + 1) % 16]}-{TOPICS[n % 16]} methods, and at own{n} of it."
        + " More." * (n % 5),
        keyphrases=[
            *(f"{TOPICS[(n * 5 + 1) % 16]}-{TOPICS[n % 16]} methods", f"own{n}"),
            *(f"{TOPICS[n % 16]} {TOPICS[(n * 7 + 3) % 16]}", f"{TOPICS[(n * 3) % 16]} theory"),
        ],
    )
    for n in range(32)
]
