"""How amounts are written. Money is whole céntimos of sol everywhere; what a model costs is whole micro-USD."""


def in_soles(centimos: int) -> str:
    """12050 -> "S/ 120.50"."""
    return f"S/ {centimos // 100:,}.{centimos % 100:02d}"


def say_usd(micro_usd: float) -> str:
    """Micro-USD in dollars, with as many decimals as a small amount needs: `USD 1.25`, `USD 0.000408`."""
    usd = micro_usd / 1_000_000
    decimals = 2 if usd == 0 or usd >= 1 else 4 if usd >= 0.01 else 6
    return f"USD {usd:,.{decimals}f}"
