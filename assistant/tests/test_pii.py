"""What the masker takes out of a text, and what it lets through."""

import pytest

from assistant.pii import mask


@pytest.mark.parametrize(
    ("text", "masked", "found"),
    [
        ("mi DNI es 40404041, a las 7 pm", "mi DNI es [DNI], a las 7 pm", {"dni": 1}),
        ("RUC 20987654326 por S/ 120.00", "RUC [RUC] por S/ 120.00", {"ruc": 1}),
        ("carné de extranjería 911222333", "carné de extranjería [CE]", {"ce": 1}),
        ("cel +51 911 222 333 mañana 8pm", "cel [CELULAR] mañana 8pm", {"mobile": 1}),
        ("fijo (01) 555-0100, cancha 2", "fijo [TELÉFONO], cancha 2", {"landline": 1}),
        ("escribe a ana@example.com hoy", "escribe a [CORREO] hoy", {"email": 1}),
        ("con la 4111 1111 1111 1111 el 12/03", "con la [TARJETA] el 12/03", {"card": 1}),
        ("al 002-193-001234567890-13 S/ 60", "al [CCI] S/ 60", {"cci": 1}),
        ("cancha 3 el 14/03/2026 de 19:00 a 21:00, S/ 110", "cancha 3 el 14/03/2026 de 19:00 a 21:00, S/ 110", {}),
    ],
)
def test_it_leaves_the_kind_in_place_of_the_datum(text: str, masked: str, found: dict[str, int]) -> None:
    assert (mask(text).text, mask(text).found) == (masked, found)


def test_it_masks_members_by_name_and_nobody_else() -> None:
    masked = mask("QUISPE Huaman, Rosa y Percy Tello el sábado", known_names=["Rosa Quispe Huamán"])
    assert (masked.text, masked.found) == ("[NOMBRE] y Percy Tello el sábado", {"name": 1})
