"""The labelled sentences that measure the masker: enough of them, well formed, right. Messages name ids only: texts stay unread."""

import json
import re
import unicodedata
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent / "testdata" / "pii"
Sentence = dict[str, Any]
PARTS: dict[str, list[Sentence]] = {
    part: [json.loads(line) for line in (FOLDER / f"{part}.jsonl").read_text(encoding="utf-8").splitlines()]
    for part in ("dev", "final", "fresh", "fresh2", "fresh3", "fresh4")
}
SPLIT = PARTS["dev"] + PARTS["final"]
SENTENCES = SPLIT + PARTS["fresh"] + PARTS["fresh2"] + PARTS["fresh3"] + PARTS["fresh4"]
RUC_WEIGHTS = (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)
FORMS = {
    "dni": r"\d{8}\d?",
    "ruc": r"\d{11}",
    "ce": r"\d{9}",
    "mobile": r"(00)?(51)?9\d{8}",
    "landline": r"\d{7}|(01|511)\d{7}|(0|51)[4-8]\d{7}",
    "card": r"\d{13,19}",
    "cci": r"\d{20}",
}
KINDS = {*FORMS, "email", "name"}
RESERVED_DOMAIN = r"[\w.+-]+ ?(@|arroba) ?([\w-]+\.)*([\w-]+\.(example|test)|example\.(com|net|org)|example punto com)"
BOOKING_FACT = r"\d{1,2}:\d{2}|\d/\d|S/|soles|\b(am|pm)\b|\b(lunes|martes|miércoles|jueves|viernes|sábado|domingo|mañana|hoy)\b"


def only_digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def is_ruc(digits: str) -> bool:
    """11 digits, a prefix in use, and SUNAT's check digit: 11 minus the weighted sum modulo 11, where 10 counts as 0 and 11 as 1."""
    if not re.fullmatch(r"(10|15|16|17|20)\d{9}", digits):
        return False
    rest = 11 - sum(int(digit) * weight for digit, weight in zip(digits[:10], RUC_WEIGHTS, strict=True)) % 11
    return int(digits[10]) == rest % 10


def sum_of_doubled(digits: str, first: int) -> int:
    """Sum of the digits, every second one doubled (9 less when that exceeds 9), beginning with number `first`."""
    return sum(sum(divmod(int(digit) * (1 + (place % 2 == first)), 10)) for place, digit in enumerate(digits))


def is_luhn(digits: str) -> bool:
    """ISO/IEC 7812-1: from the right, every second digit is doubled."""
    return sum_of_doubled(digits[::-1], first=1) % 10 == 0


def cci_control(digits: str) -> str:
    """The two control digits of a CCI: one over bank and office (6 digits), one over the account (12 digits)."""
    return "".join(str(-sum_of_doubled(group, first=1) % 10) for group in (digits[:6], digits[6:18]))


def place_in_order(text: str, parts: list[str]) -> list[tuple[int, int]]:
    """(start, end) of each part, looked for from the end of the one before; ValueError when one does not occur."""
    places: list[tuple[int, int]] = []
    for part in parts:
        start = text.index(part, places[-1][1] if places else 0)
        places.append((start, start + len(part)))
    return places


def span_texts(sentence: Sentence) -> list[str]:
    return [span["text"] for span in sentence["spans"]]


def is_well_placed(sentence: Sentence) -> bool:
    """Whether spans and facts occur, each list in its order, and no character belongs to two of them."""
    try:
        places = [place_in_order(sentence["text"], parts) for parts in (span_texts(sentence), sentence.get("facts", []))]
    except ValueError:
        return False
    return all(before <= after for (_, before), (after, _) in pairwise(sorted(places[0] + places[1])))


def unlabelled_numbers(sentence: Sentence) -> list[str]:
    """The digits of each number outside the spans, separators inside it dropped."""
    rest, at = "", 0
    for start, end in place_in_order(sentence["text"], span_texts(sentence)):
        rest, at = rest + sentence["text"][at:start] + " | ", end
    return [only_digits(number) for number in re.findall(r"\d(?:[ .-]?\d)*", rest + sentence["text"][at:])]


def count_spans(sentences: list[Sentence]) -> Counter[str]:
    return Counter(span["kind"] for sentence in sentences for span in sentence["spans"])


def words_of(name: str) -> list[str]:
    """The words of a name, folded to lower case without accents (ñ becomes n)."""
    plain = "".join(sign for sign in unicodedata.normalize("NFD", name) if not unicodedata.combining(sign))
    return re.findall(r"\w+", plain.casefold())


def names_member(written: str, known: str) -> bool:
    """Whether every written word is the member's, among them the first name and at least one other."""
    words, member = words_of(written), words_of(known)
    return len(words) > 1 and member[0] in words and set(words) <= set(member)


def ids_where(wrong: Any) -> list[str]:
    return [sentence["id"] for sentence in SENTENCES if wrong(sentence)]


def test_it_is_large_enough_to_measure_with() -> None:
    spans = count_spans(SPLIT)
    assert len(SPLIT) >= 360
    assert set(spans) == KINDS
    assert min(spans.values()) >= 35
    assert sum(not sentence["spans"] for sentence in SPLIT) >= 120
    assert sum(len(sentence["spans"]) > 1 for sentence in SPLIT) >= 50


@pytest.mark.parametrize(
    ("part", "sentences", "spans_a_kind", "without"),
    [("fresh", 160, 34, 60), ("fresh2", 200, 40, 70), ("fresh3", 400, 68, 120), ("fresh4", 400, 68, 120)],
)
def test_the_fresh_parts_are_large_enough_for_one_miss_a_kind(part: str, sentences: int, spans_a_kind: int, without: int) -> None:
    spans = count_spans(PARTS[part])
    assert len(PARTS[part]) >= sentences
    assert set(spans) == KINDS
    assert min(spans.values()) >= spans_a_kind
    assert sum(not sentence["spans"] for sentence in PARTS[part]) >= without


def test_dev_and_final_hold_every_kind_in_the_same_proportion() -> None:
    spans, final = count_spans(SPLIT), count_spans(PARTS["final"])
    assert min(final[kind] for kind in KINDS) >= 8
    assert {kind for kind in KINDS if not 0.30 <= final[kind] / spans[kind] <= 0.37} == set()
    without = [sum(not sentence["spans"] for sentence in part) for part in (PARTS["final"], SPLIT)]
    assert 0.30 <= without[0] / without[1] <= 0.37
    assert len(PARTS["final"]) * 3 == pytest.approx(len(SPLIT), abs=3)


def test_no_sentence_and_no_value_occurs_twice() -> None:
    ids = Counter(sentence["id"] for sentence in SENTENCES)
    texts = Counter(" ".join(words_of(sentence["text"])) for sentence in SENTENCES)
    values = Counter(re.sub(r"\W", "", span["text"]) for it in SENTENCES for span in it["spans"] if span["kind"] != "name")
    assert [key for key, times in ids.items() if times > 1] == []
    assert sum(times > 1 for times in texts.values()) == 0
    assert sum(times > 1 for times in values.values()) == 0


def test_each_line_has_the_agreed_keys() -> None:
    assert ids_where(lambda it: not {"id", "text", "spans"} <= set(it) <= {"id", "text", "spans", "facts", "known_names"}) == []
    assert ids_where(lambda it: any(set(span) != {"kind", "text"} for span in it["spans"])) == []
    assert ids_where(lambda it: not 0 < len(it["text"]) <= 300) == []


def test_spans_and_facts_occur_in_order_and_never_overlap() -> None:
    assert ids_where(lambda it: not is_well_placed(it)) == []


def test_no_span_holds_a_booking_fact() -> None:
    assert ids_where(lambda it: any(re.search(BOOKING_FACT, text, re.IGNORECASE) for text in span_texts(it))) == []
    assert sum(len(sentence.get("facts", [])) for sentence in SENTENCES if sentence["spans"]) >= 150
    assert sum(len(sentence.get("facts", [])) for sentence in SENTENCES if not sentence["spans"]) >= 100


def test_each_number_has_the_form_of_its_kind() -> None:
    def wrong(span: dict[str, str]) -> bool:
        return span["kind"] in FORMS and not re.fullmatch(FORMS[span["kind"]], only_digits(span["text"]))

    assert ids_where(lambda it: any(wrong(span) for span in it["spans"])) == []


def test_check_digits_of_labelled_numbers_are_right() -> None:
    right = {"ruc": is_ruc, "card": is_luhn, "cci": lambda digits: digits[18:] == cci_control(digits)}
    assert ids_where(lambda it: any(not right[s["kind"]](only_digits(s["text"])) for s in it["spans"] if s["kind"] in right)) == []


def test_numbers_left_unlabelled_have_wrong_check_digits() -> None:
    numbers = [(sentence["id"], number) for sentence in SENTENCES for number in unlabelled_numbers(sentence)]
    like_ruc = [(name, is_ruc(number)) for name, number in numbers if len(number) == 11]
    like_card = [(name, is_luhn(number)) for name, number in numbers if 13 <= len(number) <= 19]
    like_cci = [(name, number[18:] == cci_control(number)) for name, number in numbers if len(number) == 20]
    assert [name for name, valid in like_ruc + like_card + like_cci if valid] == []
    assert (len(like_ruc) >= 8, len(like_card) >= 8, len(like_cci) >= 1) == (True, True, True)


def test_names_are_of_known_members() -> None:
    def wrong(sentence: Sentence) -> bool:
        written = [span["text"] for span in sentence["spans"] if span["kind"] == "name"]
        return any(not any(names_member(name, known) for known in sentence.get("known_names", [])) for name in written)

    assert ids_where(wrong) == []
    assert sum("known_names" in sentence and not sentence["spans"] for sentence in SENTENCES) >= 15


def test_mail_goes_to_reserved_domains() -> None:
    mails = [(it["id"], span["text"].lower()) for it in SENTENCES for span in it["spans"] if span["kind"] == "email"]
    assert [name for name, mail in mails if not re.fullmatch(RESERVED_DOMAIN, mail)] == []


@pytest.mark.parametrize(
    ("digits", "valid"),
    [("20987654326", True), ("20987654321", False), ("10404040401", True), ("30987654326", False), ("2098765432", False)],
)
def test_it_knows_a_ruc(digits: str, valid: bool) -> None:
    assert is_ruc(digits) is valid


@pytest.mark.parametrize(
    ("digits", "valid"),
    [("79927398713", True), ("79927398710", False), ("4111111111111111", True), ("1411111111111111", False), ("378282246310005", True)],
)
def test_it_knows_luhn(digits: str, valid: bool) -> None:
    assert is_luhn(digits) is valid


@pytest.mark.parametrize(
    ("spans", "facts", "good"),
    [
        (["40404040", "987654321"], ["a las 7"], True),
        (["987654321", "40404040"], [], False),
        (["40404040", "40404040"], [], False),
        (["40404041"], [], False),
        (["40404040"], ["40404040 a las 7"], False),
    ],
)
def test_it_knows_when_spans_are_misplaced(spans: list[str], facts: list[str], good: bool) -> None:
    labelled = [{"kind": "dni", "text": text} for text in spans]
    assert is_well_placed({"text": "dni 40404040 a las 7, cel 987654321", "spans": labelled, "facts": facts}) is good


def test_it_knows_the_control_digits_of_a_cci() -> None:
    assert cci_control("002193001234567890") == "13"


@pytest.mark.parametrize(
    ("written", "known", "same"),
    [
        ("ROSA QUISPE", "Rosa Quispe Huamán", True),
        ("huaman quispe, rosa", "Rosa Quispe Huamán", True),
        ("Rosa", "Rosa Quispe Huamán", False),
        ("Quispe Huamán", "Rosa Quispe Huamán", False),
        ("Rosa Quispecahua", "Rosa Quispe Huamán", False),
    ],
)
def test_it_knows_when_a_name_is_a_members(written: str, known: str, same: bool) -> None:
    assert names_member(written, known) is same
