"""The formulas against published values, and against scipy 1.17 and statsmodels 0.15 (numbers computed there, written here)."""

import pytest

from evals.statistics import compare_shares, mcnemar_exact, minimum_detectable_change, percentile, wilson_interval


def difference(successes, n, other_successes, other_n):
    return compare_shares(
        successes / n, wilson_interval(successes, n), other_successes / other_n, wilson_interval(other_successes, other_n)
    )


# Newcombe 1998 (Statistics in Medicine 17:857-872), table I, method 3.
NEWCOMBE_SINGLE = [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]

# statsmodels.stats.proportion.proportion_confint(method="wilson")
STATSMODELS_WILSON = [
    (23, 25, 0.7503389105, 0.9777795987),
    (22, 25, 0.7004420608, 0.9583318285),
    (20, 25, 0.6086904963, 0.9113941531),
    (11, 14, 0.5241076941, 0.9242861329),
    (7, 10, 0.3967781475, 0.8922087326),
    (34, 40, 0.7092767563, 0.9293881228),
    (50, 50, 0.9286524009, 1.0),
]


@pytest.mark.parametrize(("successes", "n", "low", "high"), NEWCOMBE_SINGLE)
def test_it_gives_the_published_wilson_intervals(successes, n, low, high):
    interval = wilson_interval(successes, n)
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)


@pytest.mark.parametrize(("successes", "n", "low", "high"), STATSMODELS_WILSON)
def test_it_gives_the_wilson_intervals_of_statsmodels(successes, n, low, high):
    assert wilson_interval(successes, n) == pytest.approx((low, high), abs=1e-9)


def test_it_touches_zero_and_one_exactly():
    assert wilson_interval(0, 7).low == 0.0
    assert wilson_interval(7, 7).high == 1.0


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (-1, 10), (11, 10)])
def test_it_refuses_what_is_not_a_share(successes, n):
    with pytest.raises(ValueError, match="not a share"):
        wilson_interval(successes, n)


# Newcombe 1998 (Statistics in Medicine 17:873-890), table II, method 10; more decimals from statsmodels, method "newcomb".
NEWCOMBE_DIFFERENCE = [
    (56, 70, 48, 80, 0.0524314724, 0.3338726540),
    (9, 10, 3, 10, 0.1705227239, 0.8090179735),
    (6, 7, 2, 7, 0.0582279275, 0.8062496375),
    (5, 56, 0, 29, -0.0381371479, 0.1925600139),
    (0, 10, 0, 20, -0.1611251581, 0.2775327999),
    (0, 10, 0, 10, -0.2775327999, 0.2775327999),
    (10, 10, 0, 20, 0.6790860371, 1.0),
    (10, 10, 0, 10, 0.6075093504, 1.0),
    (22, 25, 20, 25, -0.1313047820, 0.2867249418),
    (110, 120, 95, 120, 0.0356654349, 0.2143643637),
]


@pytest.mark.parametrize(("k", "n", "other_k", "other_n", "low", "high"), NEWCOMBE_DIFFERENCE)
def test_it_gives_the_published_intervals_of_a_difference(k, n, other_k, other_n, low, high):
    found = difference(k, n, other_k, other_n)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize(
    ("pair", "is_signal"),
    [
        ((22, 25, 20, 25), False),
        ((20, 25, 22, 25), False),
        ((23, 25, 22, 25), False),
        ((25, 25, 25, 25), False),
        ((56, 70, 48, 80), True),
        ((48, 80, 56, 70), True),
        ((110, 120, 95, 120), True),
        ((10, 10, 0, 10), True),
    ],
)
def test_it_tells_signal_from_noise(pair, is_signal):
    assert difference(*pair).is_signal is is_signal


def test_intervals_that_do_not_touch_are_always_a_signal():
    low, high = wilson_interval(5, 40), wilson_interval(20, 40)
    assert low.high < high.low
    assert difference(20, 40, 5, 40).is_signal


# statsmodels.stats.contingency_tables.mcnemar(exact=True) and scipy.stats.binomtest agree on every line.
MCNEMAR = [
    (2, 3, 1.0),
    (0, 5, 0.0625),
    (0, 6, 0.03125),
    (1, 9, 0.021484375),
    (10, 25, 0.016673847800120715),
    (0, 0, 1.0),
    (4, 4, 1.0),
    (12, 30, 0.007915897334896727),
    (59, 121, 4.4344492637551645e-06),
    (86, 150, 3.7159361395713866e-05),
]


@pytest.mark.parametrize(("only_a", "only_b", "p"), MCNEMAR)
def test_it_gives_the_exact_mcnemar_p(only_a, only_b, p):
    assert mcnemar_exact(only_a, only_b) == pytest.approx(p, rel=1e-12)
    assert mcnemar_exact(only_b, only_a) == pytest.approx(p, rel=1e-12)


@pytest.mark.parametrize(
    ("n", "discordant", "change"),
    [
        (22.011324427435788, 0.5, 0.40),  # published as 23 pairs for 0.45 against 0.05
        (154.5985695602111, 0.45, 0.15),  # published as 155 pairs
    ],
)
def test_it_solves_connors_sample_size_for_the_change(n, discordant, change):
    assert minimum_detectable_change(n, discordant) == pytest.approx(change, abs=1e-9)


@pytest.mark.parametrize(("n", "change"), [(50, 0.1497), (60, 0.1258), (120, 0.0641)])
def test_it_knows_the_best_case_in_which_every_case_moves_the_same_way(n, change):
    """The exact power of the exact McNemar test at these changes is 0.78, computed with scipy's binomials."""
    assert minimum_detectable_change(n) == pytest.approx(change, abs=5e-5)


def test_more_cases_show_smaller_changes_and_more_churn_hides_them():
    assert minimum_detectable_change(1000) < minimum_detectable_change(100) < minimum_detectable_change(50)
    assert minimum_detectable_change(100, 0.4) > minimum_detectable_change(100, 0.2) > minimum_detectable_change(100)


def test_so_few_cases_show_nothing():
    assert minimum_detectable_change(3) == 1.0


# numpy.percentile, default method.
@pytest.mark.parametrize(
    ("values", "q", "found"),
    [
        ([40, 15, 50, 20, 35], 0, 15),
        ([40, 15, 50, 20, 35], 5, 16.0),
        ([40, 15, 50, 20, 35], 30, 23.0),
        ([40, 15, 50, 20, 35], 40, 29.0),
        ([40, 15, 50, 20, 35], 50, 35),
        ([40, 15, 50, 20, 35], 95, 48.0),
        ([40, 15, 50, 20, 35], 99, 49.6),
        ([40, 15, 50, 20, 35], 100, 50),
        ([12.0, 3.5, 7.25, 100.0], 95, 86.8),
        ([12.0, 3.5, 7.25, 100.0], 50, 9.625),
        ([7.5], 99, 7.5),
    ],
)
def test_it_interpolates_percentiles(values, q, found):
    assert percentile(values, q) == pytest.approx(found)


@pytest.mark.parametrize(("values", "q"), [([], 50), ([1.0], 101), ([1.0], -1)])
def test_it_refuses_a_percentile_of_nothing(values, q):
    with pytest.raises(ValueError, match="no percentile"):
        percentile(values, q)
