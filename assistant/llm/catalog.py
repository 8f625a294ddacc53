"""Model names: what each costs and which ones may never see a person's words. Names only; how to call them is the provider's file.

The list is code on purpose. What an environment variable can switch off will be switched off one evening to save money.
"""

import re
import unicodedata
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from assistant.llm import ForbiddenModel, ModelKind, Usage


@dataclass(frozen=True)
class Price:
    """USD per million tokens, which is the same figure as micro-USD per token."""

    input: Decimal
    output: Decimal


@dataclass(frozen=True)
class Cost:
    """Micro-USD of one call, rounded up; `price_known` is False when the dearest price stood in."""

    micro_usd: int
    price_known: bool


def _price(input_usd: str, output_usd: str) -> Price:
    return Price(Decimal(input_usd), Decimal(output_usd))


# Public list prices, without discounts, not checked against any invoice. Review them each quarter and whenever the cost page
# drifts from what the provider charges: an old price spoils our accounting, never an answer.
PRICES: dict[str, Price] = {
    "gpt-4o": _price("2.50", "10.00"),
    "gpt-4o-mini": _price("0.15", "0.60"),
    "gpt-4.1": _price("2.00", "8.00"),
    "gpt-4.1-mini": _price("0.40", "1.60"),
    "gpt-4.1-nano": _price("0.10", "0.40"),
    "gpt-5": _price("1.25", "10.00"),
    "gpt-5-mini": _price("0.25", "2.00"),
    "gpt-5-nano": _price("0.05", "0.40"),
    "o3": _price("2.00", "8.00"),
    "o4-mini": _price("1.10", "4.40"),
    "claude-3-haiku": _price("0.25", "1.25"),
    "claude-3-5-haiku": _price("0.80", "4.00"),
    "claude-haiku-4-5": _price("1.00", "5.00"),
    "claude-sonnet-4": _price("3.00", "15.00"),
    "claude-sonnet-4-5": _price("3.00", "15.00"),
    "claude-opus-4": _price("15.00", "75.00"),
    "claude-opus-4-1": _price("15.00", "75.00"),
    "gemini-2.0-flash": _price("0.10", "0.40"),
    "gemini-2.5-flash-lite": _price("0.10", "0.40"),
    "gemini-2.5-flash": _price("0.30", "2.50"),
    "gemini-2.5-pro": _price("1.25", "10.00"),
    "mistral-small": _price("0.10", "0.30"),
    "mistral-large": _price("2.00", "6.00"),
    "deepseek-chat": _price("0.27", "1.10"),
    "deepseek-reasoner": _price("0.55", "2.19"),
    "command-r": _price("0.15", "0.60"),
    "command-r-plus": _price("2.50", "10.00"),
    "grok-3": _price("3.00", "15.00"),
    "grok-3-mini": _price("0.30", "0.50"),
}
DEAREST = Price(max(price.input for price in PRICES.values()), max(price.output for price in PRICES.values()))

# A date or build after the name: -2024-07-18, -08-2024, @20240620, -2411, -001, -latest. The price is that of the name before it.
VARIANT_SUFFIX = re.compile(r"[-@:](?:\d{4}-\d{2}-\d{2}|\d{2}-\d{4}|\d{8}|\d{6}|\d{4}|\d{3}|latest)$")

# Free and trial variants are left out of every promise of zero retention. A name is cut at whatever is not a letter, so that the
# separator and the case do not matter; the words stand whole, so that "freeform" is not "free".
FORBIDDEN_WORDS = frozenset({"free", "freetier", "freetrial", "freemium", "gratis", "trial"})
# Variants that are free or on trial without saying so in a word of their own.
FORBIDDEN_NAMES = frozenset({"gemini-2.0-flash-exp", "gemini-exp-1206", "glm-4-flash", "glm-4.5-flash"})


def check_allowed(name: str) -> None:
    """Raise ForbiddenModel for a free or trial variant; nothing else is used in its place."""
    plain = _plain(name)
    if FORBIDDEN_WORDS.intersection(re.findall(r"[a-z]+", plain)) or _base_name(plain) in FORBIDDEN_NAMES:
        raise ForbiddenModel(f"«{name}» es una variante gratuita o de prueba, sin promesa sobre los datos; elige otra en LLM_MODEL")


def cost_micro_usd(model: str, usage: Usage, *, kind: ModelKind = "real") -> Cost:
    """What a call costs: nothing when scripted, the list price when known, else the dearest known price, marked."""
    if kind == "scripted" or model.partition(":")[0] == "scripted":
        return Cost(0, price_known=True)
    price = price_of(model)
    charged = price or DEAREST
    amount = usage.input_tokens * charged.input + usage.output_tokens * charged.output
    return Cost(int(amount.to_integral_value(rounding=ROUND_CEILING)), price_known=price is not None)


def price_of(model: str) -> Price | None:
    """The list price of a name, with or without vendor prefix and date; None when it is not in the table."""
    name = _base_name(_plain(model))
    return PRICES.get(name) or PRICES.get(VARIANT_SUFFIX.sub("", name))


def _plain(name: str) -> str:
    """Lower case, compatibility forms folded, invisible characters gone: what a provider would take the name for at its kindest."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(character for character in folded if unicodedata.category(character) != "Cf").strip()


def _base_name(plain: str) -> str:
    return plain.rpartition("/")[2]
