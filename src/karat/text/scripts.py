"""Scripts that write words one after the other, with no space between them."""

from __future__ import annotations

import re

from karat.text.unicode import composed

LEAST = 1 / 3  # share of a text's letters that must be of such a script
KANA_LEAST = 0.1  # share of kana among the letters of Chinese script that makes a text Japanese

# Letters of Chinese and Japanese, as a pattern has them within brackets: marks such as the middle dot are none.
KANA = "\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9f"
HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_HAN_OR_KANA = re.compile(f"[{HAN}{KANA}]")

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
_KANA = re.compile(f"[{KANA}]")
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
            return language_of_script(plain) or script if script == "Chinese" else script
    return None


def language_of_script(text: str) -> str | None:
    """`Chinese` or `Japanese` where a third of a text's letters are of these, with spaces or without; None elsewhere.

    >>> language_of_script("神经 网络 的 训练"), language_of_script("ニューラル網の訓練"), language_of_script("nets")
    ('Chinese', 'Japanese', None)
    """
    if text.isascii() or max(text) < _FIRST:
        return None
    found = len(_HAN_OR_KANA.findall(text))
    if not found or found < LEAST * sum(map(str.isalpha, text)):
        return None
    return "Japanese" if len(_KANA.findall(text)) >= KANA_LEAST * found else "Chinese"
