"""Arithmetic that tells a real number from digits typed at random: RUC, payment cards, CCI."""

RUC_PREFIXES = ("10", "15", "16", "17", "20")
RUC_WEIGHTS = (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)
DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


def is_ruc(digits: str) -> bool:
    """11 digits, a prefix in use and SUNAT's check digit: 11 minus the weighted sum modulo 11, where 10 counts as 0 and 11 as 1."""
    if len(digits) != 11 or not digits.startswith(RUC_PREFIXES):
        return False
    weighted = sum(int(digit) * weight for digit, weight in zip(digits, RUC_WEIGHTS, strict=False))
    return int(digits[10]) == (11 - weighted % 11) % 10


def is_luhn(digits: str) -> bool:
    """ISO/IEC 7812-1: counted from the right, every second digit is doubled (9 less above 9), and the sum ends in 0."""
    return (sum(map(int, digits[::-2])) + sum(DOUBLED[int(digit)] for digit in digits[-2::-2])) % 10 == 0


def is_cci(digits: str) -> bool:
    """20 digits: bank and office (6), account (12), and for each of the two its control digit, which is Luhn's."""
    return len(digits) == 20 and is_luhn(digits[:6] + digits[18]) and is_luhn(digits[6:18] + digits[19])
