"""Which sentences a claim is held against first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wording import find_nearest

REFERENCE = [
    "The bridge is in the north of the town.",
    "It is 340 metres long.",
    "Verdane Bridge opened in 1913.",
    "The toll was 2 crowns in the first year.",
]


@pytest.mark.parametrize(
    ("claim", "nearest"),
    [
        ("Verdane Bridge opened in 1931.", 2),
        ("The VERDANE bridge was opened.", 2),
        ("The bridge has a length of 340 metres.", 1),
        ("In the first year, the toll of the bridge was 3 crowns.", 3),
        ("The town is in the north.", 0),
    ],
)
def test_nearest_sentence(claim: str, nearest: int) -> None:
    """Rare and long words and numbers outweigh the short ones that every sentence has."""
    assert find_nearest(claim, REFERENCE, count=1) == [nearest]


@pytest.mark.parametrize(
    ("claim", "candidates", "nearest"),
    [
        ("다리는 1931년에 개통되었다.", ["탑의 높이는 40미터이다.", "이 다리가 1913년에 개통되었다."], 1),
        ("那座桥于1931年通车。", ["城里有一座博物馆。", "这座桥在1913年通车。"], 1),
        ("橋は長い。", ["駅は新しい。", "長い橋が架かる。"], 1),
        ("Мост открыт в 1931 году.", ["Башня стоит на холме.", "МОСТ был открыт в 1913 году."], 1),
        ("Die Straße ist 5 km lang.", ["Der Turm ist hoch.", "Die STRASSE wurde 1950 gebaut."], 1),
        ("The ﬁrst bridge", ["The second tower", "The first tower"], 1),
    ],
)
def test_nearest_in_other_scripts(claim: str, candidates: list[str], nearest: int) -> None:
    """Words are found without spaces between them, under endings, and in any case or form."""
    assert find_nearest(claim, candidates, count=1) == [nearest]


def test_a_number_is_one_word() -> None:
    """3.5 is not near 5.3, and 48,000 is not near 48."""
    assert find_nearest("It weighs 48,000 tons.", ["It had 48 seats.", "A load of 48,000 fits."], count=1) == [1]


def test_of_equal_ones_the_first() -> None:
    """Order decides between equal candidates, and those with nothing in common come last, in order too."""
    assert find_nearest("red tower", ["blue", "tower", "green", "tower"], count=4) == [1, 3, 0, 2]


@given(st.text(), st.lists(st.text(), max_size=5), st.integers(0, 6))
def test_any_text_is_ranked(text: str, candidates: list[str], count: int) -> None:
    """Whatever the texts: distinct indices in range, as many as asked for or there are, the same every time."""
    found = find_nearest(text, candidates, count)
    assert len(found) == min(count, len(candidates)) == len(set(found))
    assert set(found) <= set(range(len(candidates)))
    assert find_nearest(text, candidates, count) == found
