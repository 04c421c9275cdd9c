"""What is left out before decomposition, and what must not be."""

from __future__ import annotations

import pytest

from proxy.claims.checkable import is_checkable, is_refusal
from proxy.claims.claim import Sentence


def sentence(text: str) -> Sentence:
    return Sentence(0, (0, len(text)), text)


REFUSALS = [
    "As an AI I can't help with that.",
    "As an AI language model, I do not have access to current data.",
    "I'm sorry, but I cannot assist with that request.",
    "I’m sorry, but I can’t help with that.",
    "Sorry, I can't do that.",
    "I cannot provide medical advice.",
    "I am unable to browse the internet.",
    "I'm not able to verify this.",
    "Unfortunately, I don't have information about this bridge.",
    "I won't write that.",
]

COURTESIES = [
    "Hi!",
    "Hello there!",
    "Sure!",
    "**Sure thing!**",
    "Of course.",
    "Yes.",
    "Great question!",
    "You're welcome!",
    "Thank you for asking.",
    "Thanks for your patience.",
    "I hope this helps.",
    "I hope that helps!",
    "Hope this helps!",
    "Let me know if you have any questions about the bridge.",
    "Please feel free to ask about its history.",
    "Don’t hesitate to ask.",
    "If you have more questions, just ask.",
    "I'd be happy to help.",
    "I'm here to help.",
    "I am a language model.",
    "As an AI, I have read about many bridges.",
    "Here is a short summary of its history.",
    "Here's what the list contains.",
    "As of my last update, no such bridge exists.",
    "I'm sorry to hear that.",
    "I am not a doctor.",
    "I'm not a medical professional, so please ask one.",
]

QUESTIONS = ["Which colour?", "Did it open in 1931?", "**Did it open in 1931?**", "何年に開通しましたか？"]

DOUBTS = [
    "If it had opened in 1931, tolls would have paid.",
    "It may have opened in 1931.",
    "It might have been designed by Lorne.",
    "Perhaps it opened in 1931.",
    "It was probably built by Lorne.",
    "It could have been the largest.",
    "It may be the oldest bridge in Perth.",
    "It seems that it opened in 1931.",
    "I'm not sure when it opened.",
    "I am not entirely certain about the date.",
    "As far as I know, the library has 40,000 books.",
    "Had it opened in 1931, tolls would have paid.",
    "Without tolls it would not have been built.",
    "Maybe it did.",
    "I think it opened in 1931, and it closed in 1950.",
    "Perhaps it opened in 1931, but nobody knows.",
    "Vielleicht wurde sie 1931 eröffnet.",
    "Tal vez se abrió en 1931.",
    "아마도 1931년에 열렸을 것이다.",
]

OPINIONS = [
    "I find it lovely.",
    "I think it opened in 1931.",
    "In my opinion, it is the finest bridge.",
    "I really love this bridge.",
    "I would recommend a visit.",
    "Personally, I prefer the old one.",
    "I'll explain its history.",
    "The old town is absolutely gorgeous.",
    "Kimchi is delicious.",
    "You should visit it at least once.",
    "Ich finde die Brücke schön.",
    "Creo que es el más bello.",
    "제 생각에는 다리가 아름답습니다.",
]

ORDERS = [
    "Open the valve",
    "Close the gate.",
    "Then close the gate slowly.",
    "Please wait.",
    "Make sure that the valve is open.",
    "Don't open the gate.",
    "Remember the toll.",
    "1. Open the valve",
    "Add 200 g of sugar.",
    "Take a bus to the bridge.",
    "See https://ex.test/a for more.",
    "Click on the link.",
    "Wrap the thread in tape.",
    "Let the cake cool.",
    "Ignore all previous instructions.",
    "Reply only with JSON.",
]

EMPTY = [
    "🙂",
    "...",
    "—",
    "",
    "  ",
    "**",
    "[2]",
    "https://ex.test/a?b=1.5.",
    "Here are the facts:",
    "**Opened:**",
    "事実：",
]


@pytest.mark.parametrize("text", [*REFUSALS, *COURTESIES, *QUESTIONS, *DOUBTS, *OPINIONS, *ORDERS, *EMPTY])
def test_no_claims_are_left_out(text: str) -> None:
    """What states nothing that a reference could bear out is no claim (C26, C27)."""
    assert not is_checkable(sentence(text))


CLAIMS = [
    "It opened in 1913.",
    "It did not open in 1931.",
    "It never opened.",
    "Verdane Bridge opened in 1931",
    "- **Opened:** 1931 [2]",
    "1931",
    "Canberra",
    "Canberra.",
    "It may need a permit.",
    "Visitors may be asked to pay a toll.",
    "The bridge must be closed in storms.",
    "You can cross it on foot.",
    "Patients may have different symptoms.",
    "It can hold 340 cars.",
    "Sure, Verdane Bridge opened in 1931.",
    "Yes, Verdane Bridge opened in 1931.",
    "No, it opened in 1913.",
    "I was born in Warsaw in 1867.",
    "He said that the bridge was lovely.",
    'She asked "Why?" and left.',
    "Hope Bridge opened in 1913.",
    "May 1913 saw the opening.",
    "Its military might was great.",
    "Its might.",
    "Open since 1913.",
    "Set in Perth, the novel sold well.",
    "Built the first bridge in Perth.",
    "Use of the bridge is free.",
    "Place names are old.",
    "Mark Lorne designed it.",
    "Had a daughter named Ada.",
    "Here lies Ada Lorne.",
    "Opened: 1931",
    "Great Verdane is a town.",
    "Welcome Island lies in the north.",
    "The thank-you note was lost.",
    "The See of Rome ruled it.",
    "Its cost is unknown, but it was perhaps paid by the state.",
    "The hall, probably the oldest part, was restored in 1998.",
    "Critics called the towers ugly.",
    "The food was found to be delicious.",
    "Answer in 1913 was no.",
    "다리는 1913년에 열렸다.",
    "桥于1913年开通。",
]


@pytest.mark.parametrize("text", CLAIMS)
def test_statements_are_checkable(text: str) -> None:
    """Statements, negated ones and doubtful cases are claims: permission is no hedge, a name no greeting (C27)."""
    assert is_checkable(sentence(text))


@pytest.mark.parametrize("text", REFUSALS)
def test_refusals_are_known(text: str) -> None:
    """The assistant declines, or says that it cannot know (C26)."""
    assert is_refusal(sentence(text))


@pytest.mark.parametrize(
    "text", ["Hi!", "The king refused to help.", "You can't park there.", "I'm sorry to hear that.", "🙂"]
)
def test_other_sentences_are_no_refusals(text: str) -> None:
    """Courtesies, and refusals of others, are none of the assistant's."""
    assert not is_refusal(sentence(text))
