"""What the masker takes out of a text, what it lets through, and how well it does on the labelled sentences."""

import re
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assistant.check_digits import is_cci, is_luhn, is_ruc
from assistant.pii import PLACEHOLDERS, find_personal_data, mask
from assistant.pii_text import Span
from assistant.tests.test_pii_set import KINDS, PARTS, Sentence, place_in_order, span_texts

MEMBERS = ["Rosa Quispe Huamán", "María de la Cruz Quispe", "Luis Alberto Choque Mamani", "Óscar Núñez Pari", "Ana Rojas Rojas"]
STEEP = 8  # between the growth of a straight line and that of a square
LARGE_CLUB = [*MEMBERS, *(f"{first} Quispe {second}" for first in map(chr, range(97, 122)) for second in map(str.upper, "abcdefghij"))]
LEAST = 0.97
MENDED_WITH = ("dev", "final", "fresh", "fresh2", "fresh3")  # the parts the masker was written or mended with
HELD = (*MENDED_WITH, "fresh4")  # and the one it has not been changed for
Masker = Callable[[Sentence], list[Span]]


class Score(NamedTuple):
    """One kind in one part: how many were labelled, found, claimed and rightly claimed, and the ids of the errors."""

    labelled: int
    found: int
    claimed: int
    right: int
    missed: list[str]
    false: list[str]


def find_as_the_masker(sentence: Sentence) -> list[Span]:
    return find_personal_data(sentence["text"], known_names=sentence.get("known_names", ()))


def cover(text: str, claimed: Span, labelled: Span) -> bool:
    """Whether the masked stretch is of the kind and holds every letter and digit of the labelled one."""
    inside = [place for place in range(labelled.start, labelled.end) if text[place].isalnum()]
    return claimed.kind == labelled.kind and all(claimed.start <= place < claimed.end for place in inside)


def labels_of(sentence: Sentence) -> list[Span]:
    places = place_in_order(sentence["text"], span_texts(sentence))
    return [Span(*place, span["kind"]) for place, span in zip(places, sentence["spans"], strict=True)]


def reach_into_facts(sentence: Sentence, claims: list[Span]) -> list[Span]:
    facts = place_in_order(sentence["text"], sentence.get("facts", []))
    return [claim for claim in claims if any(claim.start < end and start < claim.end for start, end in facts)]


def score_kind(sentences: list[Sentence], kind: str, masker: Masker) -> Score:
    """By the README's rule: a stretch of its kind that covers a span finds it; one that covers none, or reaches a fact, is false."""
    missed, false, labelled, claimed = [], [], 0, 0
    for sentence in sentences:
        labels = [label for label in labels_of(sentence) if label.kind == kind]
        claims = [claim for claim in masker(sentence) if claim.kind == kind]
        wrong = reach_into_facts(sentence, claims)
        labelled, claimed = labelled + len(labels), claimed + len(claims)
        missed += [sentence["id"] for label in labels if not any(cover(sentence["text"], claim, label) for claim in claims)]
        false += [
            sentence["id"] for claim in claims if claim in wrong or not any(cover(sentence["text"], claim, label) for label in labels)
        ]
    return Score(labelled, labelled - len(missed), claimed, claimed - len(false), missed, false)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("part", HELD)
def test_it_finds_and_claims_rightly_per_kind(part: str, kind: str, record_property: Callable[[str, object], None]) -> None:
    score = score_kind(PARTS[part], kind, find_as_the_masker)
    record_property(f"{part} {kind}", score._asdict())
    assert score.found / score.labelled >= LEAST, f"missed {score.missed} of n={score.labelled}"
    assert score.right / score.claimed >= LEAST, f"false in {score.false} of n={score.claimed}"


@pytest.mark.parametrize("part", HELD)
def test_it_masks_nothing_inside_the_facts_of_a_booking(part: str) -> None:
    assert [it["id"] for it in PARTS[part] if reach_into_facts(it, find_as_the_masker(it))] == []


def find_nothing(sentence: Sentence) -> list[Span]:
    return []


def find_every_number(sentence: Sentence) -> list[Span]:
    return [Span(*match.span(), "dni") for match in re.finditer(r"\d+", sentence["text"])]


def test_the_measure_sees_a_masker_that_masks_nothing_and_one_that_masks_all() -> None:
    idle, greedy = (score_kind(PARTS["dev"], "dni", masker) for masker in (find_nothing, find_every_number))
    assert (idle.found, idle.labelled, len(idle.missed)) == (0, 36, 36)
    assert (greedy.found >= 30, greedy.right / greedy.claimed < 0.2) == (True, True)
    assert sum(bool(reach_into_facts(it, find_every_number(it))) for it in PARTS["dev"]) >= 100


def test_the_measure_wants_the_whole_datum_and_the_right_kind() -> None:
    text = "dni 40404040-7"
    whole = Span(4, 14, "dni")
    assert [cover(text, claim, whole) for claim in (whole, Span(0, 14, "dni"), Span(4, 12, "dni"), Span(4, 14, "ce"))] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("text", "masked", "found"),
    [
        ("mi DNI es 40404041, a las 7 pm", "mi DNI es [DNI], a las 7 pm", {"dni": 1}),
        ("mi DNI es 40.404.041", "mi DNI es [DNI]", {"dni": 1}),
        ("RUC 20987654326 por S/ 120.00", "RUC [RUC] por S/ 120.00", {"ruc": 1}),
        ("carné de extranjería 911222333", "carné de extranjería [CE]", {"ce": 1}),
        ("cel (+51) 911 222 333 mañana 8pm", "cel [CELULAR] mañana 8pm", {"mobile": 1}),
        ("cel 911222333/911222334", "cel [CELULAR]/[CELULAR]", {"mobile": 2}),
        ("fijo (01) 555-0100, cancha 2", "fijo [TELÉFONO], cancha 2", {"landline": 1}),
        ("5550100 es mi teléfono", "[TELÉFONO] es mi teléfono", {"landline": 1}),
        ("escribe a ana@example.com hoy", "escribe a [CORREO] hoy", {"email": 1}),
        ("mi correo es ana @example.com", "mi correo es [CORREO]", {"email": 1}),
        ("oficina: 5550100, cancha 2", "oficina: [TELÉFONO], cancha 2", {"landline": 1}),
        ("Luis 9 1122 2333 a las 9", "Luis [CELULAR] a las 9", {"mobile": 1}),
        ("tel 84 202020 o +51 (54) 202020", "tel [TELÉFONO] o [TELÉFONO]", {"landline": 2}),
        ("ana punto p (arroba) example (punto) com", "[CORREO]", {"email": 1}),
        ("con la 4111 1111 1111 1111 12/27", "con la [TARJETA] 12/27", {"card": 1}),
        ("al 002-193-001234567890-13 S/ 60", "al [CCI] S/ 60", {"cci": 1}),
        ("DNI４０４０４０４１", "DNI[DNI]", {"dni": 1}),
        ("cel 911\u200b222\u200b333", "cel [CELULAR]", {"mobile": 1}),
    ],
)
def test_it_leaves_the_kind_in_place_of_the_datum(text: str, masked: str, found: dict[str, int]) -> None:
    assert (mask(text).text, mask(text).found) == (masked, found)


@pytest.mark.parametrize(
    "text",
    [
        "cancha 3 el 14/03/2026 de 19:00 a 21:00, S/ 110",
        "20260314 1900 cancha 1",
        "S/ 40404041 de presupuesto",
        "40404041 soles",
        "placa ABC-123 y moto 1234-5X",
        "pedido 911222333, boleta B001-00012345",
        "40404041 es mi número de operación",
        "operaciones 40404041 y 40404042",
        "en casa a las 9, cancha 2, 1234567 soles",
        "síguenos en @canchas.pe",
        "cancha 2 a las 8, 2 x 1 @ 4.50 soles",
        '{"sport": "fulbito", "date": "2026-03-14", "startHour": 19, "hours": 2}',
    ],
)
def test_it_lets_dates_amounts_hours_plates_and_orders_through(text: str) -> None:
    assert (mask(text).text, mask(text).found) == (text, {})


def test_the_same_number_is_masked_when_another_word_calls_it_a_person_s() -> None:
    assert mask("pedido 40404041, boleta 911222333, fecha 20260314").found == {}
    assert mask("DNI 40404041, celular 911222333, DNI 20260314").found == {"dni": 2, "mobile": 1}


@pytest.mark.parametrize(
    ("label", "number", "kind"),
    [
        ("fijo:", "5 55 01 00", "landline"),
        ("llamar al", "5 550 100", "landline"),
        ("mi teléfono es el", "5-55-01-00", "landline"),
        ("casa:", "55501 00", "landline"),
        ("fijo", "0 44 2 02 020", "landline"),
        ("cel", "91 12 22 33 3", "mobile"),
        ("wsp:", "91 122 23 33", "mobile"),
        ("carné", "00 123 4567", "ce"),
        ("DNI", "404 040 41", "dni"),
    ],
)
def test_behind_a_label_any_grouping_is_masked_and_without_it_is_not(label: str, number: str, kind: str) -> None:
    assert mask(f"{label} {number}, a las 7").text == f"{label} {PLACEHOLDERS[kind]}, a las 7"
    assert mask(f"van {number}, a las 7").found == {}


@pytest.mark.parametrize(
    "text",
    [
        "llamar el 2 10 2026",
        "llámame de 9 10 11 12",
        "llamen el 14-3-2026 a las 9",
        "el carné vence 15-12-2026 9 pm",
        "teléfono malogrado, 4 48 49 50",
        "documento del 15 12 2026",
    ],
)
def test_behind_a_label_dates_and_hours_in_groups_stay(text: str) -> None:
    assert (mask(text).text, mask(text).found) == (text, {})


def test_a_number_in_groups_ends_before_an_hour_or_a_count() -> None:
    assert mask("tel 4 48 49 50 9 a 1").text == "tel [TELÉFONO] 9 a 1"
    assert mask("fijo 4484950 2 personas").text == "fijo [TELÉFONO] 2 personas"


@pytest.mark.parametrize("prefix", ["N ", "N", "N-", "n "])
def test_the_old_n_of_a_carne_goes_with_it(prefix: str) -> None:
    assert mask(f"carné número {prefix}001234567 hoy").text == "carné número [CE] hoy"
    assert mask(f"carné segú{prefix}001234567 hoy").text == f"carné segú{prefix}[CE] hoy"


@pytest.mark.parametrize("sign", ["N° ", "Nº", "nro. ", "No. ", "#"])
def test_the_sign_of_a_number_hides_none(sign: str) -> None:
    text = "DNI {0}40404041, CE {0}001234567, RUC {0}20987654326, fijo {0}5550100"
    assert mask(text.format(sign)).found == {"dni": 1, "ce": 1, "ruc": 1, "landline": 1}


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("ella tiene carné 001234567 y él 011234567", "ella tiene carné [CE] y él [CE]"),
        ("mi carné es 001234567 y el de mi esposa 045123456", "mi carné es [CE] y el de mi esposa [CE]"),
        ("CE: el mío 001234567, el de ella 911222333", "CE: el mío [CE], el de ella [CE]"),
        ("CE 001234567, 123456789 y 023456789", "CE [CE], [CE] y [CE]"),
        ("el fijo es 5550100 y el de la directora 5 55 01 01", "el fijo es [TELÉFONO] y el de la directora [TELÉFONO]"),
        ("DNI el mío 40404041, el de ella 20260314", "DNI el mío [DNI], el de ella [DNI]"),
    ],
)
def test_the_label_carries_on_to_the_next_of_the_list(text: str, masked: str) -> None:
    assert mask(text).text == masked


def test_the_label_of_a_list_ends_where_another_kind_or_a_booking_begins() -> None:
    assert mask("CE 001234567 / 01 5550100 / 911222333").text == "CE [CE] / [TELÉFONO] / [CELULAR]"
    assert mask("CE 001234567 y fijo 015550100").text == "CE [CE] y fijo [TELÉFONO]"
    assert mask("cel 911222333, 4 10 20 30").text == "cel [CELULAR], 4 10 20 30"
    assert mask("DNI 40404041, 15122026 a las 7").text == "DNI [DNI], 15122026 a las 7"


@pytest.mark.parametrize(
    "text",
    [
        "del 01012027 al 31032027 los jueves 8pm",
        "socios del 01012027 al 31032027",
        "01012027-31032027",
        "15122026 1900 cancha 1",
        "lista de jugadores para el 15122026",
        "desde el 15122026 hasta el 20122026",
        "nací el 12051987",
        "del 20270101 al 20270331 socios",
    ],
)
def test_a_date_of_eight_digits_is_no_document(text: str) -> None:
    assert (mask(text).text, mask(text).found) == (text, {})


@pytest.mark.parametrize(
    "text", ["mi DNI es 15122026", "15122026 es mi DNI", "DNI: 01012027", "soy Pedro 12051987", "del 32012027 al 31132027", "el 31022027"]
)
def test_eight_digits_called_a_document_or_no_day_of_the_calendar_are_one(text: str) -> None:
    assert mask(text).text == re.sub(r"\d+", "[DNI]", text)


@pytest.mark.parametrize(
    "text",
    [
        "Rosa Quispe",
        "ROSA QUISPE HUAMAN",
        "quispe huamán, rosa",
        "Quispe Huamán Rosa",
        "Rosa Huamán",
        "Rosa  Quispe-Huamán",
        "maria de la cruz",
        "De la Cruz Quispe, María",
        "Luis Choque",
        "Luis Alberto Choque Mamani",
        "Oscar Nunez",
        "O\u0301scar Nu\u0301n\u0303ez Pari",
        "Ana Rojas Rojas",
    ],
)
def test_it_masks_a_known_member(text: str) -> None:
    assert mask(f"hoy juega {text}.", known_names=MEMBERS).text == "hoy juega [NOMBRE]."
    assert mask(text).found == {}


@pytest.mark.parametrize(
    "text",
    [
        "Rosa juega con Quispe",
        "Quispe Huamán",
        "Luis Alberto",
        "Percy Tello",
        "Marirosa Quispe",
        "Rosa Quispealaya",
        "Rosa, Quispe y Huamán",
        "Rosa. Quispe llega tarde",
        "calle Rosa Quispe 123",
        "Jr. Rosa Quispe",
        "I.E. Rosa Quispe",
        'colegio "Rosa Quispe"',
        "la Copa Doña Rosa Quispe",
        "losa Rosa Quispe",
        "Rosa Quispe F.C.",
    ],
)
def test_it_leaves_a_first_name_a_stranger_and_a_place(text: str) -> None:
    assert mask(text, known_names=MEMBERS).text == text


def test_one_word_is_no_name_even_when_first_name_and_surname_are_the_same() -> None:
    assert mask("Rosa vino y Rosa no; Rosa Rosa sí", known_names=["Rosa Rosa"]).text == "Rosa vino y Rosa no; [NOMBRE] sí"


def test_what_belongs_to_a_member_is_no_place() -> None:
    assert mask("la cancha de Rosa Quispe", known_names=MEMBERS).text == "la cancha de [NOMBRE]"


@pytest.mark.parametrize(
    ("check", "right", "wrong"),
    [
        (is_ruc, "20987654326", "20987654325"),
        (is_ruc, "10404040401", "30404040401"),
        (is_luhn, "4111111111111111", "4111111111111112"),
        (is_luhn, "378282246310005", "378282246310006"),
        (is_cci, "01136600010003254221", "01136600010003254231"),
        (is_cci, "00219300123456789013", "00219300123456789014"),
    ],
)
def test_a_check_digit_tells_a_number_from_a_slip(check: Callable[[str], bool], right: str, wrong: str) -> None:
    assert (check(right), check(wrong)) == (True, False)
    assert sum(mask(f"va el {right}").found.values()) == 1
    assert mask(f"va el {wrong}").found == {}


def test_a_cci_called_so_is_masked_whatever_its_control_digits() -> None:
    assert mask("mi CCI es 00219300123456789014").text == "mi CCI es [CCI]"


def test_the_placeholder_is_the_same_for_every_value() -> None:
    """Nothing of the value is left, so nothing leads back to it."""
    assert mask("DNI 40404041").text == mask("DNI 40404042").text == "DNI [DNI]"
    assert mask("Luis Choque", known_names=MEMBERS).text == mask("Rosa Quispe", known_names=MEMBERS).text == "[NOMBRE]"


PERSONAL = (
    "987654321 40404041 20987654326 4111111111111111 00219300123456789013 ana@example.com rosa quispe maría de la cruz 5550100 001234567"
)
AROUND = (
    "dni c.e. carné cel fijo casa pedido operación soles S/ N n° es mi y el de ella a las mañana club fc "
    "arroba punto com .com [DNI] [dni] [NOMBRE] 20260314 01012027 "
    "op voucher yape boleta nro código que del al hasta veces unos (01) B001 40404049"
)
SIGNS = "- . , / ( ) + +51 0051 01 054 44 444 4444 2 9 @ [ ] ² ٣ -7 -k \ue000 \u0301 \u200b ﷺ ½ ⑩"
SHARDS = [*PERSONAL.split(), *AROUND.split(), *SIGNS.split()]
TEXTS = st.lists(st.sampled_from([*SHARDS, " ", "\n"]) | st.text(max_size=3), max_size=16).map("".join) | st.text()
NAME_WORDS = st.sampled_from(["rosa", "quispe", "maría", "de", "la", "cruz", "dni", "club", "cel", "casa", "nombre"])
NAMES = st.lists(st.lists(NAME_WORDS, min_size=1, max_size=4).map(" ".join), max_size=3)


@settings(max_examples=1_500, deadline=None)
@given(text=TEXTS, names=st.just(MEMBERS) | NAMES)
@example(text="987654321½ana@example.com", names=MEMBERS)
@example(text="rosa quispe quispe rosa", names=["quispe quispe", "rosa rosa"])
def test_masking_twice_is_masking_once(text: str, names: list[str]) -> None:
    once = mask(text, known_names=names)
    again = mask(once.text, known_names=names)
    assert (again.text, again.found) == (once.text, {})
    assert mask(text, known_names=names) == once


@settings(max_examples=500, deadline=None)
@given(text=TEXTS, names=st.lists(st.text(max_size=30), max_size=3))
def test_it_takes_any_text_and_any_names(text: str, names: list[str]) -> None:
    masked = mask(text, known_names=names)
    spans = find_personal_data(text, known_names=names)
    assert masked.found == Counter(span.kind for span in spans)
    kept = [
        text[before.end : after.start] for before, after in zip([Span(0, 0, ""), *spans], [*spans, Span(len(text), 0, "")], strict=True)
    ]
    assert masked.text == "".join(
        piece + PLACEHOLDERS.get(span.kind, "") for piece, span in zip(kept, [*spans, Span(0, 0, "")], strict=True)
    )


@pytest.mark.parametrize("part", PARTS)
def test_masked_sentences_stay_as_they_are(part: str) -> None:
    for sentence in PARTS[part]:
        names = sentence.get("known_names", ())
        once = mask(sentence["text"], known_names=names).text
        assert mask(once, known_names=names).text == once, sentence["id"]


def grow(work: Callable[[str], object], make: Callable[[int], str]) -> float:
    """How many times the processor time of a text a text four times as long takes: 4 when each sign costs the same, 16 when all others too.

    The two take turns and the best of five counts, so that a slow or busy machine changes neither; below 1 ms the clock tells nothing.
    """
    short, long = make(1_500), make(6_000)
    shorter, longer = zip(*((measure_ms(work, short), measure_ms(work, long)) for _ in range(5)), strict=True)
    return min(longer) / max(min(shorter), 1.0)


def measure_ms(work: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    work(text)
    return (time.process_time() - start) * 1_000


def fill(shard: str, end: str = "") -> Callable[[int], str]:
    """As many signs of it as asked for, with `end` as the last ones."""
    return lambda signs: (shard * signs)[: signs - len(end)] + end


def mask_for_a_large_club(text: str) -> object:
    return mask(text, known_names=LARGE_CLUB)


WORDS = "1|9 |9-|44 |01 |41 11 |4111 |00-|99 9 99 |dni |c. e|12345678 y |45678912.|45678912,|12345678 es el |cel 9 8765 4|987654321 "
LISTS = (
    "1 |tel 1 1 1 1 1 |casa 1 1 |01012027 al |987654321 y el de mi |ce 00 5 0 5 06 |4 4 44 tel |voucher nro 12345678 |00123401 al 00123450 "
)
PAPERS = "yape n n n n n n n n n n n n n 12345678|op 1/1/1 s/ 1 12345678 |12345678 que me te nos es el la mi |?a=|(01) 2 "
REST = "a|a@|a@1.|a.|a@b.|@ |a punto |a arroba |quispe |rosa quispe |quispe, |de la |de la cruz |(|[|[DNI]| |\n|\u0301|ﷺ|s/ |_|cel_"


HOSTILE = [*WORDS.split("|"), *LISTS.split("|"), *PAPERS.split("|"), *REST.split("|")]


@pytest.mark.parametrize("shard", HOSTILE)
def test_the_time_of_hostile_text_grows_with_its_length_alone(shard: str) -> None:
    assert grow(mask_for_a_large_club, fill(shard)) < STEEP


@pytest.mark.parametrize(("shard", "end"), [("a", " @b.pe"), ("a", "@b.pe"), ("1.", "@1.1"), ("a", "12345678"), ("dni ", "12345678")])
def test_the_time_of_a_long_run_up_to_a_match_grows_with_its_length_alone(shard: str, end: str) -> None:
    assert grow(mask_for_a_large_club, fill(shard, end)) < STEEP


@settings(max_examples=25, deadline=None)
@given(shards=st.lists(st.sampled_from(SHARDS), min_size=1, max_size=4))
def test_the_time_of_any_repetition_grows_with_its_length_alone(shards: list[str]) -> None:
    assert grow(mask_for_a_large_club, fill(" ".join([*shards, ""]))) < STEEP


def test_the_measure_sees_a_pattern_that_goes_back() -> None:
    assert grow(re.compile(r"(?:\w|[.+-])+@").search, fill("a")) > STEEP
