"""Words that say what the number next to them is, folded: without capitals and accents."""

LABELS = {
    "dni": (
        "dni documento documentos doc identidad reniec socio socia socios socias jugador jugadora jugadores jugadoras "
        "lista capitan capitana delegado delegada arquero invitado invitada cliente titular participante"
    ),
    "ruc": "ruc rucs",
    "ce": "ce extranjeria carne carnet carnets carnes",
    "phone": (
        "cel celu celular celulares cell movil moviles fono fonos tel telf tlf tfno telef telefono telefonos telefonico "
        "fijo fijos wsp wpp wasap wasa guasap whatsapp whats wa llama llame llamo llamar llamen llamarme llamarlo "
        "llamarla llamame llameme llamanos llamenos timbra timbrar timbrame timbras timbre anexo contacto"
    ),
    "cci": "cci ccis interbancario interbancaria interbancarios",
    "card": "tarjeta tarjetas visa mastercard amex diners debito credito",
    "money": "monto importe presupuesto saldo total precio costo",
    "other": (
        "pedido pedidos operacion operaciones op boleta boletas proforma orden ordenes compra ticket tickets tique "
        "codigo codigos clave contrasena password pin token cupon vale serie series medidor lectura suministro contrato "
        "contratos expediente exp guia remision resolucion seguimiento tracking rastreo envio encomienda constancia "
        "voucher comprobante transaccion referencia ref lote producto barras hash imei chip placa postal poliza soat "
        "folio partida recibo recibos tramite inventario patrimonio modelo licencia brevete matricula isbn sku acta "
        "autorizacion ubigeo version fecha fechas nacimiento nacido naci universitario universitaria pasaporte "
        "incidencia reclamo solicitud deposito transferencia secuencia kilometraje certificado denuncia"
    ),
}
KIND_OF_WORD = {word: kind for kind, words in LABELS.items() for word in words.split()}
