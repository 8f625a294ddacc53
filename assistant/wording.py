"""What the assistant says to people, in Spanish."""

from assistant.drafts import Draft, Reason
from assistant.models import Interaction, Kind
from assistant.pipeline import MAX_INPUT_CHARS
from bookings.forms import in_words
from bookings.rules import CLOSES_AT, MAX_DAYS_AHEAD, OPENS_AT, RULE_MESSAGES, SPORT_LABELS, Sport

FORM_WORKS = "El formulario de reserva funciona igual."
BY_KIND = {
    Kind.DRAFT: "Llené el formulario con esto. Revísalo y confirma: todavía no hay nada reservado.",
    Kind.CLARIFY: "Me falta un dato. Escribe el pedido otra vez, con la respuesta incluida, o usa el formulario.",
    Kind.REFUSE: (
        f"Con eso no te puedo ayudar. Preparo reservas de {', '.join(SPORT_LABELS.values())}, de {OPENS_AT} a {CLOSES_AT} h "
        f"y hasta con {MAX_DAYS_AHEAD} días de anticipación. También puedes usar el formulario."
    ),
    Kind.REJECTED: "No te entendí bien y prefiero no adivinar. Escríbelo de otra manera o usa el formulario.",
    Kind.UNAVAILABLE: f"El asistente no está disponible en este momento. {FORM_WORKS}",
}
BY_REASON = RULE_MESSAGES | {
    Reason.INPUT_BLANK: "Escribe qué quieres reservar.",
    Reason.INPUT_TOO_LONG: f"Tu pedido pasa de {MAX_INPUT_CHARS} caracteres. Escríbelo más corto.",
}
BY_CAUSE = {
    "budget": f"El asistente llegó a su tope de hoy. Vuelve a probar mañana. {FORM_WORKS}",
    "busy": f"El asistente está atendiendo otros pedidos. Vuelve a probar en unos segundos. {FORM_WORKS}",
}
NO_COURT = "A esa hora ya no queda cancha libre para ese deporte. Elige otra hora en el formulario."


def tell(interaction: Interaction) -> str:
    """The sentence that goes with an outcome; the question and the draft stand apart from it."""
    return BY_REASON.get(interaction.reason) or BY_CAUSE.get(interaction.cause) or BY_KIND[Kind(interaction.kind)]


def tell_draft(draft: Draft) -> str:
    """«Fulbito, martes 10 de marzo, de 19:00 a 20:00»."""
    sport = SPORT_LABELS[Sport(draft.sport)]
    return f"{sport}, {in_words(draft.date)}, de {draft.start_hour}:00 a {draft.start_hour + draft.hours}:00"


def tell_limit(retry_after_s: int) -> str:
    """When a person who asked too often may ask again."""
    return f"Le escribiste muchas veces seguidas al asistente. Vuelve a probar {tell_wait(retry_after_s)}. {FORM_WORKS}"


def tell_wait(seconds: int) -> str:
    """«en 1 segundo», «en 5 minutos», «en 3 horas»: rounded up, so that nobody comes back too early."""
    size, unit = next((one for one in ((3_600, "hora"), (60, "minuto")) if seconds >= one[0]), (1, "segundo"))
    count = -(-seconds // size)
    return f"en {count} {unit}{'' if count == 1 else 's'}"
