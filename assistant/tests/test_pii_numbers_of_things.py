"""Numbers as long as a person's that belong to a payment, a paper, a count or a day: they stay as they were written."""

import pytest

from assistant.pii import mask

PAYMENTS = """
nro de op 40404041
nro. op: 40404041
N° op. 40404041
op n° 40404041 del 14/03
op 40404041
Op.40404041
mi numero de operacion de yape es el 40404041
operación de S/ 60.00 del 14/03: 40404041
operacion del 14 de marzo a las 7:30 pm, nro 40404041
número de operación ↵ 40404041
Nro. de operación: ↵ 40404041 ↵ Fecha: 14/03/2026
YAPE ↵ S/ 60.00 ↵ Nro. de operación 40404041
yape n° 40404041
yape 40404041 por la cancha 2
ya yapeé, el número es 40404041
hice el yape. numero 40404041
plin nro 40404041
te mando el plin, op 40404041
el abono es el 40404041
abono n° 40404041 de ayer
abono 40404041
depósito bcp 40404041
depósito en agente nro 40404041
voucher 40404041
voucher de S/ 60 n° 40404041
vaucher 40404041
el voucher dice 40404041
el voucher salió con el número 40404041
voucher, nro 40404041
te paso el voucher: 40404041
constancia nro: 40404041
constancia de transferencia 40404041
constancia de pago N° 40404041
transf. interbank 40404041
transferencia bbva n° 40404041
cuenta 40404041 del bcp
cuenta de ahorros 40404041
cta 40404041
cta. cte. 40404041
nro de cuenta 40404041
deposita a la cuenta corriente 40404041
código de pago 40404041
cód. de pago 40404041
cod 40404041
cod. 40404041 en pagoefectivo
CIP 40404041 vence hoy
mi código CIP es 40404041
giro 40404041 en el agente
cheque 40404041 del scotiabank
ref. 40404041
referencia: 40404041
trx 40404041
nro de aprobación 40404041
aprobación 40404041 en el pos
lote 40404041 del pos
terminal 40404041 niubiz
RRN 40404041
pago nro 40404041
pago con código 40404041
id de transacción 40404041
el id del pago es 40404041
préstamo n° 40404041
el voucher del banco 40404041
recibo de luz 40404041
operación de la cancha 40404041
operación interbancaria exitosa 40404041
la operación termina en 40404041
numero de movimiento 40404041
constancia de detracción 40404041
el código que me llegó al correo es 40404041
me sale error 40404041 al pagar
serie B001 numero 00012345
cotización N° 40404041
mi tarjeta bonus es 40404041
orden de pago 40404041
""".strip().splitlines()
PAPERS = """
boleta B001-00012345
boleta B001 - 00012345
boleta B001 00012345
la B001 - 00012345 salió mal
la B001 00012345 salió mal
la F001 N° 00012345 está mal
me dieron la EB01-00012345
E001/00012345
la 001-00012345
la 0001 - 00012345
comprobante 40404041
la boleta 40404041 tiene mal la hora
boleta 00012345
boleta nro 40404041
comprobante de pago nro 40404041
nota de crédito 40404041
nota de venta 40404041
recibo n° 40404041
facturas del 00123401 al 00123450
lote de boletas del 00123401 al 00123450
del 00123401 al 00123450 faltan
desde el 40404041 hasta el 40404099
entre 40404041 y 40404060 se vendió todo
los talonarios van de 00012301 a 00012400
entradas del 00012301 al 400
tickets 00012301 - 00012350
ticket 40404041 de la máquina
ticket nro 40404041
entrada 00012345
comanda 40404041
precinto 40404041 de la puerta
boletos 40404041 al 40404050
rifa n° 40404041
rifa 40404041 salió ganadora
mi número de la rifa es 40404041
pedido 40404041
nro de pedido: 40404041
orden de compra 40404041
guía 40404041 de olva
olva tracking 40404041
shalom nro de orden 40404041
código de seguimiento 40404041
encomienda 40404041 clave 1234
expediente 40404041/2026
exp. 40404041-2026
00012345/2026 de la municipalidad
papeleta 40404041
multa n° 40404041
partida 40404041 de sunarp
partida electrónica N° 40404041
oficio n° 40404041
documento de pago 40404041
doc. de venta 40404041
documento interno 40404041
libro de reclamaciones hoja n° 40404041
reclamo 40404041
reclamo del martes nro 40404041
nro de socio 40404041
número de socio: 40404041
código de socio 40404041
cód. socio 40404041
carnet de socio 40404041
carné de socio n° 40404041
mi n° de socia es 40404041
ficha de socio 40404041
código de alumno 20201234
cód. alumno 20201234
código de estudiante 20204321
carnet universitario 20201234
código de cliente 40404041
nro cliente 40404041
número de afiliado 40404041
nro de reserva 40404041
reserva n° 40404041
la reserva nro 40404041 no sale
número de medidor 40404041
suministro 40404041
nro de casillero 40404041
turno n° 40404041
serie 40404041
nro de serie: 40404041
póliza 40404041
número de caso 40404041
caso n° 40404041
nro de atención 40404041
inscripción n° 40404041
registro n° 40404041
usuario id de free fire 40404041
mi id de free fire es 40404041
OP-40404041
TK40404041
captura https://pagos.example/r/40404041
pagos.example/v?id=40404041
foto 40404041.jpg
40404041.pdf
""".strip().splitlines()
SAID_BEHIND = """
40404041 es el nro de op
40404041 es mi voucher
40404041 (nro de operación)
40404041 (voucher)
40404041 nro de operacion
40404041 - nro de operación
40404041, n° de operación de ayer
40404041 sale en el voucher
40404041 figura en la constancia
40404041 es lo que dice el ticket
40404041 dice mi comprobante
40404041 me salió en el voucher
40404041 es mi código de socio
40404041 del voucher de ayer
el 40404041 de la constancia
DNI 40404049, 40404041 es la operación
""".strip().splitlines()
COUNTS = """
me sobran 40404041 ganas de jugar
te lo dije 40404041 veces
40404041 veces te lo dije
faltan 40404041 días
tengo 40404041 razones para ir
les ganamos por 40404041 goles
como 40404041 mosquitos en la losa
hay más de 40404041 chistes de eso
nos faltan 40404041 centavos
unos 40404041 likes
40404041 reproducciones lleva el video
casi 40404041 vueltas al campo
gané 40404041 de soles
cuesta S/. 40404041
pagué 40404041 soles
40404041.50 de saldo
40404041 lucas
40404041%
""".strip().splitlines()
DAYS = """
del 01012027 al 31032027
el 14122026 a las 7
20261214 a las 7pm
12312026 por la noche
desde el 12312026
14-12-2026, 14/12/2026, 2026.12.14
vence 31122026
nací el 12311987
fecha 20261412
el 14121900 cancha 2
horario 19002100
19002100 cancha 3
cancha 2 20261205 0800-1000
""".strip().splitlines()
WITH_MANY_DIGITS = """
nro de op 911222333
op yape 911222333
voucher de S/ 60 n° 911222333
número de operación ↵ 911222333
constancia de transferencia 911222333
orden de compra 911222333
nota de crédito 911222333
código CIP 911222333
número de reserva 911222333
nro de cuenta 911222333
cheque 911222333
papeleta 911222333
código de cliente 911222333
911222333 (nro de operación)
911222333 nro de operación
911222333 sale en el voucher
911222333 veces te lo dije
tickets del 911222301 al 911222350
carnet de socio 001234567
carné de biblioteca 001234567
carnet de vacunación n° 001234567
carné del seguro 001234567
pedido de rappi 911222333
código de socio 001234567
nro de socio 5550100
pedido 5550100
ticket 5550100 de la tienda
voucher 5550100
5550100 es mi número de ticket
op 555-0100
nro de operación 555-0100
pedido 555-0100
ordenanza 305-2026
resolución 412-2025
entre 500-1000 asistentes
S/ 800-1200
precios de 250-1500
código 555-0100
555-0100 es el código
V001-555-0100
tarj de credito 4470 1188 22334455 1180 2
la tarjeta 4111 11112222 3333 4
guía 00219300123456789014
código de barras 00219300123456789014
tracking: 00219300123456789014
""".strip().splitlines()
TABLE = [*PAYMENTS, *PAPERS, *SAID_BEHIND, *COUNTS, *DAYS, *WITH_MANY_DIGITS]


@pytest.mark.parametrize("text", [line.replace(" ↵ ", "\n") for line in TABLE])
def test_the_number_of_a_thing_stays(text: str) -> None:
    kept = text.replace("40404049", "[DNI]")
    assert mask(text).text == kept


@pytest.mark.parametrize("number", ["40404041", "00123456", "07654321", "98765432", "71234567"])
def test_without_the_words_around_it_the_same_number_is_taken_for_a_document(number: str) -> None:
    """The control: what keeps it readable above is what stands around it, not the number."""
    assert mask(f"voucher {number}").found == {}
    assert mask(number).text == mask(f"soy {number}").text.removeprefix("soy ") == "[DNI]"
