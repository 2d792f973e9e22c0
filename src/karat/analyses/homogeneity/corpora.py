"""Homogeneity on several corpora, in one table."""

from __future__ import annotations

from collections.abc import Sequence

from karat.errors import InputError, unknown


def language_of(language: str | None, corpus: str) -> str | None:
    """The language of a corpus, where one is given for all, or for each by its name.

    >>> language_of("french", "a"), language_of("a=french,b=spanish", "b"), language_of("a=french", "b")
    ('french', 'spanish', None)
    """
    if language is None or "=" not in language:
        return language
    return dict(_named(language)).get(corpus)


def _named(language: str) -> list[tuple[str, str]]:
    """(corpus, language) of each."""
    found = []
    for part in language.split(","):
        name, equals, own = part.rpartition("=")
        if not equals or not name.strip() or not own.strip():
            raise InputError(f"--language {language}: write one language, or CORPUS=LANGUAGE,CORPUS=LANGUAGE")
        found.append((name.strip(), own.strip()))
    return found


def check_languages(language: str | None, corpora: Sequence[str]) -> None:
    """Raises InputError if a language is given for a corpus that there is none of."""
    for name, _ in _named(language) if language and "=" in language else ():
        if name not in corpora:
            raise unknown("corpus", name, corpora)
