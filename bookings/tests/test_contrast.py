"""Text and edges of the neighbours' pages can be told from what they stand on, in light and in dark (WCAG 2.2 AA, 1.4.3 and 1.4.11)."""

import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders

CSS = Path(str(finders.find("kallpa/site.css"))).read_text(encoding="utf-8")
LIGHT, DARK = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block)) for block in re.findall(r":root \{(.*?)\}", CSS, re.DOTALL))
TEXT = [
    *[(ink, ground) for ink in ("ink", "quiet", "accent-ink") for ground in ("paper", "card")],
    ("accent-ink", "accent-soft"),
    ("on-accent", "accent"),
    ("on-band", "band"),
    ("taken-ink", "taken"),
    ("taken-ink", "paper"),
    ("bad-ink", "card"),
    ("bad-ink", "bad-soft"),
    ("good-ink", "good-soft"),
    ("note-ink", "note-soft"),
    ("on-bad", "bad"),
]
EDGES = [
    *[("control", ground) for ground in ("card", "paper")],
    *[("accent", ground) for ground in ("card", "paper", "accent-soft")],
    *[("focus", ground) for ground in ("card", "paper", "accent-soft")],
    ("bad", "card"),
]


def luminance(colour: str) -> float:
    """Relative luminance, 0 to 1, of #rrggbb: WCAG 2.2's definition."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("ink", "ground"), TEXT)
def test_text_can_be_read(theme: dict[str, str], ink: str, ground: str) -> None:
    assert contrast(theme[ink], theme[ground]) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("edge", "ground"), EDGES)
def test_fields_and_the_focus_can_be_seen(theme: dict[str, str], edge: str, ground: str) -> None:
    assert contrast(theme[edge], theme[ground]) >= 3


def test_each_colour_has_its_dark_counterpart_and_is_named_only_at_the_top() -> None:
    assert set(LIGHT) == set(DARK)
    rest = CSS.split("/* Ground */", 1)[1]
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b|\brgba?\(|\bhsla?\(", rest) == []


def test_each_pair_of_a_rule_is_among_those_checked() -> None:
    """Rules that set both a colour and what it stands on."""
    rules = re.findall(r"\{([^{}]*)\}", CSS.split("/* Ground */", 1)[1])
    pairs = {
        (ink[1], ground[1])
        for rule in rules
        if (ink := re.search(r"(?<![-\w])color: var\(--([\w-]+)\)", rule)) and (ground := re.search(r"background: var\(--([\w-]+)\)", rule))
    }
    assert len(pairs) > 8
    assert pairs - set(TEXT) == set()


@pytest.mark.parametrize(
    ("one", "other", "ratio"), [("#000000", "#ffffff", 21.0), ("#777777", "#ffffff", 4.48), ("#ffffff", "#ffffff", 1.0)]
)
def test_control_the_ratio_is_the_published_one(one: str, other: str, ratio: float) -> None:
    assert round(contrast(one, other), 2) == ratio
