"""Numbers that are a person's, however they are told and whatever stands near them: masked. «<…>» marks the datum."""

import re

import pytest

from assistant.pii import PLACEHOLDERS, mask

DNI = """
<40404041>
soy <40404041>
mi numero es <40404041>
mi nro <40404041>
mi nro.<40404041>
Rosa Tello <40404041>
<40404041> Rosa Tello
Rosa Tello, <40404041>, cancha 2
Rosa-<40404041>
1. Rosa Tello <40404041> ↵ 2. Percy Ramos <40404042>
Rosa <40404041>, Percy <40404042> y Elmer <40404043>
<40404041>/<40404042>
<40404041> y <40404042>
faltan <40404041> y <40404042>
falta <40404041> Rojas
van <40404041> Torres y <40404042> Salas
somos <40404041> Rojas y <40404042> Flores
me llamo Elmer Carlos <40404041> gracias
hola <40404041> gracias
anota <40404041> plis
documento <40404041>
doc <40404041>
doc. <40404041>
documento de identidad <40404041>
nro de documento <40404041>
número de documento: <40404041>
n° de doc <40404041>
mi número de DNI es <40404041>
DNI N° <40404041>
dni nro. <40404041>
DNI#<40404041>
dni=<40404041>
dni:<40404041>
DNI-<40404041>
d.n.i. <40404041>
DNI ↵ <40404041>
D N I <40404041>
libreta <40404041>
identidad <40404041>
<40404041> es mi DNI
<40404041> (dni)
<40404041> ese es mi documento
dni de mi hijo <40404041>
el dni de mi esposa es <40404041>
DNI <40404041-7>
dni <4040 4041>
dni <40.404.041>
DNI <15122026>
mi dni es <20261214>
DNI <12312026>
DNI <19002100>
los DNI del <40404041> al <40404045>
DNI <00123401> al <00123450>
dni <00123456>
dni <01234567>
socio <40404041>
socia Rosa <40404041>
la socia <40404041> pagó
titular <40404041>
a nombre de <40404041>
a nombre de Rosa <40404041>
reserva a nombre de Rosa Tello <40404041>
capitán <40404041>
delegada Rosa Tello <40404041>
jugadores: <40404041>, <40404042>, <40404043>
lista de jugadores: Rosa <40404041>, Percy <40404042>
inscripción: Rosa Tello <40404041>
inscribe a <40404041>
inscripción <40404041> Rosa Tello
reserva <40404041> Rosa
reserva para <40404041>
registra a Percy <40404041>
ficha de Rosa <40404041>
entrada para <40404041>
entradas para Rosa <40404041> y Percy <40404042>
turno de Rosa <40404041>
boleta con dni <40404041>
boleta con <40404041>
boleta a nombre de Rosa <40404041>
boleta para <40404041>
boleta, dni <40404041>
boleta Rosa Tello <40404041>
boleta ↵ <40404041> Rosa Tello
boleta: <40404041> Rosa Tello
boleta <40404041>
nací el 12/05/1987, <40404041>
de <40404041> a <40404042> pasa la reserva
los dni desde <40404041> hasta <40404045>
<40404041> al <40404045> es mi dni
la boleta sale con <40404041>
boleta electrónica a <40404041>
factura no, boleta con mi dni <40404041>
yape de Rosa Tello <40404041>
yape a nombre de Percy Ramos, dni <40404041>
te yapeo, soy <40404041>
ya pagó Rosa <40404041>
pago de Rosa <40404041>
pagó <40404041> Rosa Tello
el pago lo hace <40404041>
el yape lo hizo Percy <40404041>
depósito de Elmer Ramos <40404041>
transferencia a Percy Ramos dni <40404041>
cuenta a nombre de Percy <40404041>
tomen en cuenta <40404041>
a cuenta de <40404041>
el voucher es de Rosa <40404041>
voucher de mi esposo Percy Ramos <40404041>
pedido para Rosa <40404041>
mi código de cliente es 5523 y mi número <40404041>
op 5523 y mi nro <40404041>
operación hecha por Rosa <40404041>
voucher del profesor <40404041>
el pedido de la señora Rosa <40404041>
el voucher del árbitro <40404041>
op 40404049 dni <40404041>
operación 40404049, DNI <40404041>
DNI <40404041> operación 40404049
dni <40404041> op 40404049
DNI <40404041>, voucher 40404049
voucher 40404049 / dni <40404041>
nro de op 40404049 y mi dni <40404041>
nro de socio 40404049, dni <40404041>
código de socio 40404049; documento <40404041>
mi dni <40404041> es también mi código
<40404041> nro de operacion 40404049
<40404041> (voucher 40404049)
DNI <40404041> pagué 60 soles
DNI <40404041>, 60 soles
DNI <40404041> de la reserva de hoy
Rosa <40404041> de la reserva de hoy
Rosa <40404041> cancha 2
<40404041> cancha 2 a las 7
<40404041> a las 7 pm
<40404041> del equipo de Percy
<40404041> jugadores 10
hoy a las 7 <40404041>
14/03 <40404041> 7pm
1900 - <40404041>
cancha 3 - <40404041>
cancha 2 <40404041> 14/03
el señor <40404041>
la señora de <40404041>
mi hermano tiene <40404041>
el de mi hijo es <40404041>
""".strip().splitlines()
CE = """
mi carné es <001234567> y el anterior era <000918273>
carné nuevo <001234567>, el antiguo <011234567>
CE <001234567>, la actual es <045123456>
carné de extranjería nro <001234567>
carnet de extranjero: <911222333>
C.E. <001234567> reserva 2 horas
CE <001234567> op 911222333
carnet de extranjería nuevo: antes era <002109011> y ahora <004343141>
el doc de ella, de migraciones, está vencido y el que vale ahora dice <004343141>
carnet de mi esposa <001234567>
ptp <001234567>
CPP <001234567>
el carné de mi socio es <001234567>
socio con carné <001234567>
op 911222333 CE <001234567>
<001234567> es mi carné
carné <001 234 567>
soy Pedro, documento <001234567>
""".strip().splitlines()
MOBILE = """
<911222333>
yape <911222333>
yape al <911222333>
yapea al <911 222 333>
plin <911222333>
mi número de yape es <911222333>
numero de yape: <911222333>
te yapeo del <911222333>
cuenta yape <911222333>
abona al <911222333>
el voucher mándalo al <911222333>
manda la constancia a <911222333>
pedido al <911222333>
el voucher es de Rosa <911222333>
pedido de Percy <911222333>
sorteo, informes <911222333>
inscripción <911222333>
reservas <911222333>
reservas al <911222333>
rifa <911222333> Rosa
entradas <911222333>
número de contacto <911222333>
numero del socio <911222333>
cel de la socia <911222333>
op 40404049 cel <911222333>
voucher 40404049, llamar al <911222333>
<911222333> (yape)
<911222333> es el yape
<911222333> (whatsapp)
terminal terrestre <911222333>
casa <911222333>
llámame al <911222333> días de semana
<911222333>/<911222334>
""".strip().splitlines()
LANDLINE = """
casa <(01) 2 63-7485>
<(01) 26 37 485> en la tarde
<(01) 2637485> fijo
teléfono <2637485>
tel. <263 74 85>
fijo <01 263 7485>
<2637485> es mi fijo
op 40404049 fijo <2637485>
voucher 40404049, casa: <2637485>
oficina (<2637485>)
trabajo <01.619.7382>
llamar a la recepción: <2637485>
nuestra central es <783-7831> y el estudio <543-2261>
<393-9531>, <789-0441> o <598-5981>, en cualquiera nos ubica
tel. <232 3661> casa, y mándame la ubicación
<232 3661> (oficina), después de las 6
<2323661> de la casa
agradeceré enviarlo al fax <667-7791>
pbx <6677791>, de 9 a 6
contáctenos al <6677791> o <667 7792>
delivery <555-0199>, cancha 3 a las 8
líneas <555-0199> / <555-0198>
el <555-0199> suena y nadie contesta
mi número: <555–0199>
<555-0199>
deposité y llamo del <555-0199>, 2 horas
""".strip().splitlines()
CCI = """
CCI <00219300123456789013>
cci <002 193 001234567890 13>
código de cuenta interbancario <00219300123456789014>
nro de cuenta interbancaria <00219300123456789014>
op 40404049 CCI <00219300123456789014>
deposita al <00219300123456789013>
cuenta cci <00219300123456789014> bcp
devuelvan a <002 193 001 234 567 890 13>, no acepto vale
devuelvan a <002-193-00-1234-5678-90-13>
""".strip().splitlines()
SENTENCES = {"dni": DNI, "ce": CE, "mobile": MOBILE, "landline": LANDLINE, "cci": CCI}
TABLE = [(kind, line) for kind, lines in SENTENCES.items() for line in lines]


def test_a_label_holds_over_the_name_of_whom_it_is() -> None:
    said = mask("tel de Urpi Choque: 232 3661, y el DNI de Urpi Choque es 40 404 041", known_names=["Urpi Choque Lima"])
    assert said.text == "tel de [NOMBRE]: [TELÉFONO], y el DNI de [NOMBRE] es [DNI]"


def test_a_carne_that_follows_another_document_keeps_its_label() -> None:
    assert mask("el ruc y el ce son 20987654326 y 003210331").text == "el ruc y el ce son [RUC] y [CE]"


@pytest.mark.parametrize(("kind", "marked"), [(kind, line.replace(" ↵ ", "\n")) for kind, line in TABLE])
def test_the_number_of_a_person_is_masked(kind: str, marked: str) -> None:
    text = marked.replace("<", "").replace(">", "")
    assert mask(text).text == re.sub("<[^>]*>", PLACEHOLDERS[kind], marked)
