"""Scripts that write words one after the other, with no space between them."""

from __future__ import annotations

import re

from karat.text.unicode import composed

LEAST = 1 / 3  # share of a text's letters that must be of such a script

# Runs of the letters of each script, and how long they are on average at most where words are parted by spaces. Words
# of Chinese and Japanese have two letters on average; those of the other scripts, marks included, four or five.
_RUNS = {
    "Chinese": (
        re.compile(
            "[\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af]+"
        ),
        4,
    ),
    "Thai": (re.compile("[\u0e00-\u0e7f]+"), 9),
    "Lao": (re.compile("[\u0e80-\u0eff]+"), 9),
    "Burmese": (re.compile("[\u1000-\u109f]+"), 9),
    "Khmer": (re.compile("[\u1780-\u17ff]+"), 9),
}
_KANA = re.compile("[\u3040-\u30ff\uff66-\uff9f]")
_FIRST = "\u0e00"  # no letter of these scripts comes before


def script_without_spaces(text: str) -> str | None:
    """The script of a text that has no spaces between its words; None where it has them.

    >>> script_without_spaces("我们研究神经网络的训练方法"), script_without_spaces("我们 研究 神经 网络 的 训练 方法")
    ('Chinese', None)
    >>> script_without_spaces("We study neural networks.")
    """
    if text.isascii() or max(text) < _FIRST:
        return None
    plain = composed(text)  # in which a zero-width space between words is a space
    letters = sum(map(str.isalpha, plain))
    for script, (run, longest) in _RUNS.items():
        found = run.findall(plain)
        count = sum(map(len, found))
        if found and count >= LEAST * letters and count > longest * len(found):
            return "Japanese" if script == "Chinese" and _KANA.search(plain) else script
    return None
