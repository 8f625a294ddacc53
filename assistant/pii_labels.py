"""Words that say what the number next to them is, folded. `other` and `money`: no person's; `paper`: not that of a document."""

LABELS = {
    "dni": (
        "dni documento documentos doc identidad reniec socio socia socios socias jugador jugadora jugadores jugadoras "
        "lista capitan capitana delegado delegada arquero invitado invitada titular participante"
    ),
    "ruc": "ruc rucs",
    "ce": "ce extranjeria extranjero extranjera migraciones ptp carne carnet carnets carnes",
    "phone": (
        "cel celu celular celulares cell movil moviles fono fonos tel telf tlf tfno telef telefono telefonos telefonico "
        "fijo fijos wsp wpp wasap wasa guasap whatsapp whats wa llama llame llamo llamar llamen llamarme llamarlo "
        "llamarla llamame llameme llamanos llamenos timbra timbrar timbrame timbras timbre anexo contacto "
        "comunicarse comunicarme comunicate comuniquese marcar marque"
    ),
    "cci": "cci ccis interbancario interbancaria interbancarios",
    "card": "tarjeta tarjetas visa mastercard amex diners debito credito",
    "money": "monto importe presupuesto saldo total precio costo",
    "other": (
        "pedido pedidos operacion operaciones op boleta boletas proforma orden ordenes ticket tickets tique "
        "codigo codigos cod clave contrasena password pin token cupon serie series medidor lectura suministro contrato "
        "contratos expediente exp guia remision resolucion seguimiento tracking rastreo encomienda constancia "
        "voucher comprobante transaccion referencia ref lote producto barras hash imei chip placa postal poliza soat "
        "folio partida recibo recibos tramite inventario patrimonio modelo licencia brevete matricula isbn sku "
        "autorizacion ubigeo universitario universitaria pasaporte "
        "incidencia reclamo solicitud secuencia kilometraje certificado denuncia oc wifi correlativo"
    ),
    "paper": "fecha fechas nacimiento nacido naci deposito transferencia envio compra factura facturas version acta",
}
KIND_OF_WORD = {word: kind for kind, words in LABELS.items() for word in words.split()}
COUNTED = (  # what stands behind an amount or a count
    "soles sol lucas mangos dolares euros usd pen personas habitantes seguidores vistas visitas hinchas espectadores asistentes usuarios "
    "puntos metros pasos millones km kg"
)
OF_A_DOCUMENT = frozenset({"dni", "documento", "documentos", "doc", "identidad"})
CARRIED = (  # between a number and the next of its list: «… y el de mi hijo es …»
    "y e o a con tambien el la los las lo al de del es son seria tiene lleva numero nro n ella ellos yo tu mi mis su sus nuestro nuestra "
    "mio mia tuyo tuya suyo suya otro otra segundo segunda mama papa madre padre esposa esposo senora senor marido mujer pareja novio "
    "novia enamorado enamorada hermano hermana hijo hija hijos hijito hijita primo prima tio tia sobrino sobrina abuelo abuela cunado "
    "cunada suegro suegra amigo amiga companero companera pata chico chica nino nina bebe menor mayor profe profesor profesora "
    "entrenador entrenadora director directora secretaria jefe jefa vecino vecina causa casa oficina trabajo"
)
HASTY = "al el es del de n no nro a y e o con porfa pa para por gracias plis pls"  # written together with a number
HASTY_WORDS = {*HASTY.split(), *KIND_OF_WORD}
