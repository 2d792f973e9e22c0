"""Texts without spaces between words are told from those that have them."""

from __future__ import annotations

import pytest

from karat.text.scripts import script_without_spaces

# One sentence each, and the same with a space between its words: this work proposes a way to extract keywords.
CHINESE = "本文 提出 一种 从 文本 中 抽取 关键词 的 方法 ， 并 在 两个 公开 数据集 上 进行 了 实验 。"
JAPANESE = "本 研究 で は 、 文書 から キーワード を 抽出 する ニューラル ネットワーク の 手法 を 提案 する 。"
THAI = "งานวิจัย นี้ เสนอ วิธีการ สกัด คำสำคัญ จาก ข้อความ ภาษาไทย โดย ใช้ โครงข่าย ประสาท เทียม"
LAO = "ການ ຄົ້ນຄວ້າ ນີ້ ສະເໜີ ວິທີການ ສະກັດ ຄຳ ສຳຄັນ ຈາກ ຂໍ້ຄວາມ ພາສາ ລາວ"
BURMESE = "ဤ သုတေသန သည် မြန်မာ စာသား မှ သော့ချက် စကားလုံး များ ကို ထုတ်ယူ သည့် နည်းလမ်း ကို တင်ပြ သည် ။"
KHMER = "ការ ស្រាវជ្រាវ នេះ ស្នើ វិធីសាស្ត្រ ក្នុង ការ ទាញយក ពាក្យ គន្លឹះ ពី អត្ថបទ ភាសា ខ្មែរ"

EVERY_SCRIPT = pytest.mark.parametrize(
    ("script", "spaced"),
    [
        ("Chinese", CHINESE),
        ("Japanese", JAPANESE),
        ("Thai", THAI),
        ("Lao", LAO),
        ("Burmese", BURMESE),
        ("Khmer", KHMER),
    ],
)


@EVERY_SCRIPT
def test_words_that_follow_each_other_without_a_space_are_told(script: str, spaced: str) -> None:
    assert script_without_spaces(spaced.replace(" ", "")) == script


@EVERY_SCRIPT
def test_words_with_spaces_between_them_are_as_good_as_any(script: str, spaced: str) -> None:
    assert script_without_spaces(spaced) is None


@pytest.mark.parametrize("spaced", [THAI, LAO, BURMESE, KHMER])
def test_a_zero_width_space_parts_words_too(spaced: str) -> None:
    assert script_without_spaces(spaced.replace(" ", "\u200b")) is None


def test_a_foreign_word_in_a_text_makes_no_difference() -> None:
    assert script_without_spaces("The Chinese for neural network is 神经网络模型 in most of these texts.") is None
    assert script_without_spaces("本文研究了BERT模型在中文关键词抽取任务上的应用") == "Chinese"


@pytest.mark.parametrize(
    "text",
    [
        "We study neural networks.",
        "Les réseaux de neurones, « profonds » ou non…",
        "Мы изучаем нейронные сети и их применение.",
        "본 연구는 순환 신경망을 이용하여 문서에서 핵심어를 추출하는 방법을 제안한다.",
        "हम तंत्रिका नेटवर्क का अध्ययन करते हैं।",
        "ندرس الشبكات العصبية وتطبيقاتها",
        "Chúng tôi nghiên cứu mạng nơ-ron",
        "👩‍💻 ❤️ 🚀",
        "神经网络",  # one word
        "",
    ],
)
def test_scripts_with_spaces_are_not_told(text: str) -> None:
    assert script_without_spaces(text) is None
