import pytest

from assistant.questions import find_unsafe


@pytest.mark.parametrize(
    "question",
    [
        "¿A las 7 de la mañana o a las 7 de la noche?",
        "¿El 10/03 o el 11/03?",
        "¿El 10.03.2026 o el 11-03-2026?",
        "¿A las 7:30 o a las 19:30? Solo hay horas en punto.",
        "¿7 a.m. o 7 p.m.?",
        "¿7.30 p.m.?",
        "¿Qué deporte: fulbito, vóley o básquet? 🙂",
        "¿Fulbito/vóley?",
        "Entendido.¿Qué día?",
        "Perfecto. Mañana?",
        "¿Hoy... o mañana?",
        "¿De 7–9 o de 19–21 h?",
        "¿«Mañana» es el martes 10?",
        "¿Vóley 🤾🏽\u200d♀️ o fulbito ⚽\ufe0f?",
        "¿vo\u0301ley?",
        "Cuesta S/ 50.00, ¿está bien?",
        "¿1\u00a0hora o 2?",
        "x" * 200,
    ],
)
def test_an_ordinary_question_is_safe(question: str) -> None:
    assert find_unsafe(question) == ""


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("x" * 201, "201 characters"),
        ("", "nothing to read"),
        (" \u00a0 ", "nothing to read"),
        ("¿?", "nothing to read"),
        ("Pague en https://pagos.example/qr", "a scheme"),
        ("Pague en HTTP:evil", "a scheme"),
        ("Pague en //evil/qr", "a scheme"),
        ("javascript:alert(1) ¿hoy?", "a scheme"),
        ("¿hoy? mailto:x", "a scheme"),
        ("Escriba a caja@kallpa", "an address"),
        ("Mire www .kallpa", "an address"),
        ("Pague en pagos-kallpa.example", "a domain"),
        ("Escriba a wa.me/51999888777", "a domain"),
        ("Mire mañana.com", "a domain"),
        ("Mire kallpa。pe", "a domain"),
        ("Mire ｋａｌｌｐａ．ｐｅ", "a domain"),
        ("Mire kallpa.xn--p1ai", "a domain"),
        ("Mire 192.168.1.10/pago", "a numeric address"),
        ("<script>alert(1)</script>¿A qué hora?", "a tag"),
        ("¿<b>Hoy</b>?", "a tag"),
        ("＜img src=x＞", "a tag"),
        ("&lt;b&gt; ¿hoy?", "an entity"),
        ("&#60;b ¿hoy?", "an entity"),
        ("%3Cscript ¿hoy?", "an entity"),
        ("\\u003cscript ¿hoy?", "an entity"),
        ("[pague aquí](kallpa)", "markdown"),
        ("![foto][1]", "markdown"),
        ("¿**Hoy**?", "markdown"),
        ("¿`hoy`?", "markdown"),
        ("# ¿Hoy?", "markdown"),
        ("¿{{ 7 }}?", "a template"),
        ("¿${hoy}?", "a template"),
        ("¿Hoy?\n¿Mañana?", "a control character"),
        ("¿Hoy?\x00", "a control character"),
        ("¿Hoy\x1b[31m?", "a control character"),
        ("¿Hoy\u202e?", "an invisible character"),
        ("¿Hoy\u2066?", "an invisible character"),
        ("¿Ho\u200by?", "an invisible character"),
        ("¿Ho\u200dy?", "an invisible character"),
        ("¿Hoy\u3164?", "an invisible character"),
        ("¿Hoy\U000e0041?", "an invisible character"),
        ("¿Hoy\ufe01?", "an invisible character"),
        ("¿Hoy\u2028?", "a line break"),
        ("¿Hoy\ud800?", "a lone surrogate"),
        ("¿Hoy\ue000?", "a private character"),
    ],
)
def test_a_question_that_could_lead_elsewhere_is_unsafe(question: str, why: str) -> None:
    assert find_unsafe(question) == why
