"""The weaknesses: one for each guard of the assistant that a stored output can put to the test."""

from evals.sensitivity import behaviours, readings
from evals.sensitivity.weakness import Weakness, changes, lets, mends

_READING = (
    Weakness("claves-extra", "Ignora los datos de más en vez de rechazar la salida", mends(readings.drop_extra_keys)),
    Weakness("claves-que-faltan", "Completa con 1 la duración que falta", mends(readings.fill_hours)),
    Weakness("claves-repetidas", "De una clave repetida toma la última", mends(readings.keep_last_of_equal_keys)),
    Weakness("numeros-como-texto", "Acepta la hora escrita como texto", mends(readings.read_numbers_in_text)),
    Weakness("numeros-con-decimales", "Redondea una hora con decimales", mends(readings.round_numbers)),
    Weakness("fecha-con-barras", "Acepta la fecha escrita con barras", mends(readings.read_slashed_date)),
    Weakness("fecha-imposible", "Corre un día que no existe al mes siguiente", mends(readings.roll_date_over)),
    Weakness("json-en-marcas", "Lee el JSON que viene entre marcas de código", mends(readings.unwrap_fence)),
    Weakness("json-en-prosa", "Busca el JSON dentro de una frase", mends(readings.dig_out_of_prose)),
    Weakness("salida-cortada", "Completa una salida que llegó cortada", mends(readings.close_cut_object)),
    Weakness("lista-de-borradores", "De una lista toma el primero", mends(readings.take_first_of_list)),
    Weakness("accion-desconocida", "Toma por reserva cualquier acción con datos de reserva", mends(readings.call_any_action_a_draft)),
)

_RULES = (
    Weakness("deporte-sin-revisar", "Acepta deportes que no se juegan aquí", lets("UNKNOWN_SPORT")),
    Weakness("antes-de-abrir", "Acepta horas antes de abrir", lets("OUTSIDE_OPENING_HOURS", lambda draft, now: draft.start_hour < 7)),
    Weakness(
        "despues-de-cerrar", "Acepta horas después de cerrar", lets("OUTSIDE_OPENING_HOURS", lambda draft, now: draft.start_hour >= 22)
    ),
    Weakness(
        "pasa-del-cierre",
        "Acepta reservas que terminan después del cierre",
        lets("OUTSIDE_OPENING_HOURS", lambda draft, now: 7 <= draft.start_hour < 22),
    ),
    Weakness("cierra-una-hora-despues", "Cree que cierra a las 23", lets("OUTSIDE_OPENING_HOURS", behaviours.ends_an_hour_late)),
    Weakness("sin-minimo-de-horas", "Acepta reservas de cero horas", lets("TOO_FEW_HOURS")),
    Weakness("sin-maximo-de-horas", "Acepta cualquier cantidad de horas", lets("TOO_MANY_HOURS")),
    Weakness("una-hora-mas", "Acepta cuatro horas en vez de tres", lets("TOO_MANY_HOURS", lambda draft, now: draft.hours == 4)),
    Weakness("sin-limite-de-dias", "Acepta cualquier día futuro", lets("TOO_FAR_AHEAD")),
    Weakness("un-dia-mas", "Acepta 15 días adelante en vez de 14", lets("TOO_FAR_AHEAD", behaviours.is_fifteen_days_ahead)),
    Weakness("dia-pasado", "Acepta días que ya pasaron", lets("IN_THE_PAST", behaviours.is_another_day)),
    Weakness("hora-empezada", "Acepta la hora que ya empezó", lets("IN_THE_PAST", behaviours.is_the_hour_that_runs)),
)

_WORDS = (
    Weakness("pregunta-sin-revisar", "Muestra cualquier pregunta del modelo", changes(behaviours.show_any_question)),
    Weakness("enlaces", "Muestra preguntas con enlaces", changes(behaviours.show_links)),
    Weakness("enlaces-sin-http", "Solo reconoce enlaces que empiezan con http", changes(behaviours.show_bare_domains)),
    Weakness("marcas", "Muestra preguntas con marcas de HTML o de formato", changes(behaviours.show_markup)),
    Weakness("pregunta-larga", "Muestra preguntas de cualquier largo", changes(behaviours.show_long_question)),
    Weakness("prosa", "Muestra lo que el modelo escriba aunque no sea JSON", changes(behaviours.show_prose)),
)

_DECISIONS = (
    Weakness("nunca-pregunta", "Adivina en vez de preguntar", changes(behaviours.guess_instead_of_asking)),
    Weakness("siempre-pregunta", "Pregunta siempre, aunque todo esté claro", changes(behaviours.always_ask)),
    Weakness("nunca-declina", "Reserva en vez de declinar", changes(behaviours.guess_instead_of_refusing)),
    Weakness("siempre-declina", "Declina siempre", changes(behaviours.always_refuse)),
    Weakness("un-dia-despues", "Corre la fecha un día", changes(behaviours.shift_date)),
    Weakness("manana-por-noche", "Confunde mañana con noche", changes(behaviours.swap_half_day)),
    Weakness("siempre-una-hora", "Reserva siempre una hora", changes(behaviours.always_one_hour)),
    Weakness("siempre-fulbito", "Reserva siempre fulbito", changes(behaviours.always_fulbito)),
    Weakness("no-mira-lo-ocupado", "Propone la hora que ya está tomada", changes(behaviours.propose_taken_hour)),
)

_WHO = (
    Weakness(
        "socio-de-la-salida", "Reserva para el socio que escribe el modelo", mends(readings.accept_member_keys), behaviours.member_in_output
    ),
    Weakness("socio-del-texto", "Reserva a nombre de quien dice el texto", mends(lambda text: None), behaviours.member_in_text),
    Weakness("siempre-otro-socio", "Reserva para otro socio que el de la sesión", mends(lambda text: None), behaviours.somebody_else),
)

WEAKNESSES: tuple[Weakness, ...] = (*_READING, *_RULES, *_WORDS, *_DECISIONS, *_WHO)
