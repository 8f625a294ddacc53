"""How amounts are written. Money is whole céntimos of sol everywhere."""


def in_soles(centimos: int) -> str:
    """12050 -> "S/ 120.50"."""
    return f"S/ {centimos // 100:,}.{centimos % 100:02d}"
