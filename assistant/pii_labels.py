"""Words that say what the number next to them is, folded. `other` and `money`: no person's; `paper`: not that of a document."""

LABELS = {
    "dni": (
        "dni documento documentos doc identidad reniec socio socia socios socias jugador jugadora jugadores jugadoras "
        "lista capitan capitana delegado delegada arquero invitado invitada titular participante"
    ),
    "ruc": "ruc rucs",
    "ce": "ce extranjeria extranjero extranjera migraciones ptp cpp carne carnet carnets carnes",
    "phone": (
        "cel celu celular celulares cell movil moviles fono fonos tel telf tlf tfno telef telefono telefonos telefonico "
        "fijo fijos wsp wpp wasap wasa guasap whatsapp whats wa llama llame llamo llamar llamen llamarme llamarlo "
        "llamarla llamame llameme llamanos llamenos timbra timbrar timbrame timbras timbre anexo contacto "
        "comunicarse comunicarme comunicate comuniquese marcar marque "
        "fax faxes telefax pbx central conmutador linea lineas contactar contactarme contactarnos contactame contactanos contactenos "
        "contacta contactos llamada llamadas llamarnos llamenme llamadme llamale delivery consultas emergencia emergencias serenazgo"
    ),
    "cci": "cci ccis interbancario interbancaria interbancarios",
    "card": "tarjeta tarjetas tarj visa mastercard amex diners debito credito",
    "money": "monto importe presupuesto saldo total precio costo",
    "other": (
        "pedido pedidos operacion operaciones op boleta boletas proforma orden ordenes ticket tickets tique "
        "codigo codigos cod clave contrasena password pin token cupon serie series medidor lectura suministro contrato "
        "contratos expediente exp guia remision resolucion seguimiento tracking rastreo encomienda constancia "
        "voucher comprobante transaccion referencia ref lote producto barras hash imei chip placa postal poliza soat "
        "folio partida recibo recibos tramite inventario patrimonio modelo licencia brevete matricula isbn sku "
        "autorizacion ubigeo universitario universitaria pasaporte "
        "incidencia reclamo solicitud secuencia kilometraje certificado denuncia oc wifi correlativo "
        "vaucher baucher boucher vouchers constancias comprobantes transacciones cip cheque cheques papeleta trx txn rrn"
    ),
    "paper": "fecha fechas nacimiento nacido naci deposito transferencia envio compra factura facturas version acta",
}
PHRASES = (  # whose number it is stands behind the first word: «código de socio» is no document's
    r"(?:cod(?:igo)?s?|nro|num(?:ero)?s?|no|n|id|ficha|credencial|carnets?|carnes?|tarjeta)[.°]{0,2}\s(?:de\s)?"
    r"(?:soci[oa]s?|asociad[oa]s?|miembros?|afiliad[oa]s?|afiliacion|alumn[oa]s?|estudiantes?|postulantes?|clientes?|usuarios?|jugador(?:es|a)?|"
    r"proveedor(?:es)?|emplead[oa]s?|trabajador(?:es|a)?|colegiatura|club|biblioteca|lector(?:es|a)?|vacunas?|vacunacion|salud|sanidad|"
    r"conadis|conducir|reservas?|reservacion|cuentas?|compras?|depositos?|transferencias?|envios?|facturas?|casilleros?|lockers?|casos?|"
    r"atencion|movimientos?|cotizacion|soporte|recarga|turnos?|inscripcion|registro|vuelo|asientos?|entradas?|citas?|paquetes?|hoja|"
    r"aprobacion|verificacion|validacion)",
    r"carne(?:t|s|ts)?[.°]{0,2}\s(?:de\s(?:la\s)?|del\s)?(?:seguro|essalud|sis|vecin[oa]|prensa|colegio|universidad|instituto|federacion|liga|equipo|"
    r"gimnasio|gym|piscina|asegurad[oa]|club|brigadista|arbitr[oa]|posta|conadis|biblioteca)",
    r"(?:op|operacion|constancia|voucher|comprobante|recibo|ticket|referencia|transaccion|orden|nota|id)[.°]{0,2}\s(?:de[l]?\s)?"
    r"(?:deposito|transferencia|envio|compra|pago|abono|factura|venta|servicio|reserva|credito|debito|ingreso|detraccion|trabajo|juego|sesion|"
    r"usuario|zoom|meet|reunion|free\sfire|transaccion)",
    r"(?:documentos?|doc)\.?\s(?:de\s(?:pago|venta|compra|cobranza|credito|transferencia|referencia|salida|ingreso)|contable|interno|autorizado)",
)
KIND_OF_WORD = {word: kind for kind, words in LABELS.items() for word in words.split()}
COUNTED = (  # what stands behind an amount or a count
    "soles sol lucas mangos dolares euros usd pen personas habitantes seguidores vistas visitas hinchas espectadores asistentes "
    "usuarios puntos metros pasos millones km kg veces ganas goles razones motivos chistes likes reproducciones centavos centimos "
    "vueltas"
)
OF_A_DOCUMENT = frozenset({"dni", "documento", "documentos", "doc", "identidad"})
CARRIED = (  # between a number and the next of its list: «… y el de mi hijo es …»
    "y e o a con tambien el la los las lo al de del es son seria tiene lleva numero nro n ella ellos yo tu mi mis su sus nuestro nuestra "
    "mio mia tuyo tuya suyo suya otro otra segundo segunda mama papa madre padre esposa esposo senora senor marido mujer pareja novio "
    "novia enamorado enamorada hermano hermana hijo hija hijos hijito hijita primo prima tio tia sobrino sobrina abuelo abuela cunado "
    "cunada suegro suegra amigo amiga companero companera pata chico chica nino nina bebe menor mayor profe profesor profesora "
    "entrenador entrenadora director directora secretaria jefe jefa vecino vecina causa casa oficina trabajo "
    "ahora antes luego despues anterior nuevo nueva viejo vieja antiguo antigua actual primero primera ultimo ultima era fue"
)
HASTY = "al el es del de n no nro a y e o con porfa pa para por gracias plis pls"  # written together with a number
HASTY_WORDS = {*HASTY.split(), *KIND_OF_WORD}
NUMBER_WORDS = "n no nr nro num numero cod codigo"
THINGS = (  # whose own number has eight digits, besides the papers above
    "yape yapes yapeo yapee yapeamos plin plins plineo plinee abono abonos giro giros transf cta ctas cuenta ahorros corriente cte "
    "bcp bbva interbank scotiabank banbif pagoefectivo agente pos niubiz izipay culqi terminal aprobacion verificacion validacion "
    "afiliacion rifa rifas boleto boletos talonario talonarios oficio memorandum titulo multa olva shalom serpost movimiento "
    "cotizacion qr barcode error promo zoom chasis legajo colegiatura puntaje record tinka contometro detraccion metropolitano bonus "
    "soporte favorito suerte vale honorarios rh locker casillero comanda adelanto anticipo garantia precinto extintor candado llave "
    "cupones siaf requerimiento"
)
NUMBERED = (  # the same, where a word for «number» stands between
    "pago pagos reserva reservas caso casos turno turnos inscripcion registro ficha hoja cita entrada entradas asiento casillero "
    "locker atencion separacion llamada carta informe queja vuelo bus paquete sticker pulsera tarjeta prestamo cuota sorteo boleta "
    "boletas factura facturas"
)
NOT_THINGS = "boleta boletas factura facturas fecha fechas nacimiento nacido naci"
OF_A_PERSON = (  # papers that are called by whose they are: «el voucher de Rosa»
    "voucher vaucher baucher boucher operacion operaciones op boleta boletas factura facturas recibo recibos comprobante constancia "
    "pedido pedidos ticket tickets deposito transferencia compra envio transaccion orden"
)
SMALL = (  # between a paper and its number
    f"{NUMBER_WORDS} el la lo los las un una de del y con que es era fue sale salio dice figura aparece quedo viene tiene lleva mi tu "
    "su este esta ese esa ayer hoy anoche anteayer ya aqui ahi va te paso mando me dio dieron llego electronica electronico digital "
    "virtual simple venta banco bancaria interbancaria exitosa realizada aprobada confirmada procesada efectuada termina terminada "
    "acaba en rappi pedidosya mercadolibre temu shein aliexpress amazon falabella ripley olva shalom serpost ultima ultimo primera "
    "segunda misma mismo soles sol lucas yape plin bcp bbva interbank scotiabank am pm hrs manana tarde noche a las lunes martes "
    "miercoles jueves viernes sabado domingo enero febrero marzo abril mayo junio julio agosto setiembre septiembre octubre noviembre "
    "diciembre"
)
PEOPLE = (  # besides the family and friends above
    "arbitro arbitra encargado encargada gerente cliente clienta dueno duena administrador administradora vigilante guardian portero "
    "presidente presidenta tesorero tesorera coordinador coordinadora alumno alumna joven muchacho muchacha persona"
)
BILLED = "agua luz gas internet telefono alquiler cancha losa cochera mantenimiento local tienda bodega farmacia arbitrios"
COUNTED_DAYS = "dias noches meses semanas anos"


def either(*words: str) -> str:
    """A pattern for one of the words, all of it."""
    return rf"(?<![a-z])(?:{'|'.join(' '.join(words).split())})(?![a-z])"
