"""What is plainly no claim: greetings, questions, refusals, hedges, opinions, instructions, labels.

In: one sentence. Out: whether it states something that a reference could bear out or contradict. A small form that
reads English patterns and nothing around the sentence; in doubt a sentence is checkable. It stands apart because
both decompositions leave out the same sentences.
"""

from __future__ import annotations

import re
from typing import Final

from proxy.claims.claim import Sentence
from proxy.claims.markdown import plain_text

_ADDRESS = re.compile(r"\b(?:https?://|www\.)\S+")
_QUESTION = re.compile(r"[?？؟][\s*_)\]]*$")
_LABEL = re.compile(r"[:：][\s*_)\]]*$")
_AROUND: Final = " \t*_~#>\"'“”(["


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_REFUSAL = _any_of(
    r"^as an? (?:ai|large language model|language model|assistant)\b.*\b(?:can(?:no|')t|can not|won't|unable"
    r"|not able|do(?:n't| not)|must decline)\b",
    r"^(?:(?:i'm|i am|i apologi[sz]e|sorry|unfortunately|my apologies)\b.{0,60}?\b)?i(?: really| simply| just)? ?"
    r"(?:can(?:no|')t|can not|won't|will not|am unable|'m unable|am not able|'m not able|must decline|decline"
    r"|do(?:n't| not) (?:have|know))\b",
    r"^(?:i'm|i am)(?: sorry| afraid)?,?(?: but)? ?(?:unable|not able) to\b",
    r"^sorry, (?:but )?(?:that|this) (?:is|isn't)\b.*\bi can\b",
)

_COURTESY = _any_of(
    r"^(?:hi|hello|hey|greetings|welcome|good (?:morning|afternoon|evening|day)|goodbye|bye|cheers)"
    r"(?: there| again| everyone| all| back)?[\s!,.]*$",
    r"^(?:sure(?: thing)?|certainly|absolutely|definitely|of course|ok(?:ay)?|all ?right|got it|understood|great"
    r"|perfect|yes|no|right|correct|exactly|well|indeed|good|excellent|wow|hmm+|oh)[\s!,.]*$",
    r"^(?:thanks?(?: you)?|you're (?:very |most )?welcome|you are welcome|no problem|my pleasure|sorry|i apologi[sz]e"
    r"|my apologies|congratulations|good luck|enjoy|great question|good question|that's a great question)"
    r"(?: so much| very much| a lot| for .{1,60})?[\s!,.]*$",
    r"^(?:i (?:really |do |sincerely )?hope|hope|hopefully) (?:this|that|these|it|you)\b",
    r"^(?:please )?(?:just )?(?:let me know|feel free|do(?:n't| not) hesitate)\b",
    r"^if (?:you|there)\b.*\b(?:let me know|feel free|happy to|just ask|hesitate)\b",
    r"^(?:i'm|i am|i'd be|i would be|i'll be) (?:always |more than )?(?:happy|glad|here|delighted)\b",
    r"^(?:i'm|i am) (?:just |only )?(?:an? )?(?:ai|(?:large )?language model|assistant)\b",
    r"^as an? (?:ai|(?:large )?language model)\b",
    r"^(?:here|below)(?:'s| is| are)\b.*\b(?:answer|summary|list|overview|explanation|breakdown|example|facts?"
    r"|details|information|version|response|steps|points)\b",
    r"^(?:as of )?my (?:knowledge|training|last update)\b|^i was (?:last )?(?:trained|updated)\b",
    r"^(?:i'm|i am) (?:sorry|afraid)\b",
)

_DOUBT = _any_of(
    r"\b(?:perhaps|maybe|possibly|probably|presumably|conceivably|supposedly|arguably)\b",
    r"\bmight\b(?! (?:of|and|or|is|was|has|had|in)\b)(?=[ ,])",
    r"\b(?:may|could)(?: well| also| once| even| already)?(?: not)? have (?:been|begun|won|met|had|become|built|lost"
    r"|left|meant|brought|caught|bought|sent|made|come|\w+(?:ed|wn|tten|ken))\b",
    r"\b(?:may|could)(?: well| also)? be (?:the|an?|due|because|related|linked)\b",
    r"\bit (?:seems|appears|is possible|is likely|is unclear|is not clear|is unknown)\b",
    r"\b(?:i'm|i am|i was) (?:not |un|fairly |pretty |quite |almost )(?:sure|certain)\b",
    r"^(?:(?:even |only |what |as )?if|unless|suppose|supposing|assuming|imagine)\b",
    r"^(?:had|were|should) (?:i|it|he|she|we|they|you|the|this|that)\b",
    r"\bwould(?:n't| not)?(?: \w+)? have\b",
)

_OPINION = _any_of(
    r"(?:^|[,;] (?:and |but |so )?)i(?: \w+ly| still| do| also| just)? (?:think|believe|guess|suppose|assume|suspect"
    r"|feel|find|love|like|prefer|enjoy|hope|wish|want|need|recommend|suggest|admire|doubt|imagine|bet)\b",
    r"(?:^|[,;] )i(?: would|'d|'ll| will| can| could| should| must|'ve| have) (?:\w+ )?(?:say|argue|recommend|suggest"
    r"|love|like|prefer|be|help|explain|show|give|provide|try|summari[sz]e|describe|tried|done)\b",
    r"\bin my (?:humble |own |personal )?(?:opinion|view|experience)\b|\bto my mind\b|^personally\b",
    r"\bif you ask me\b",
)

# Verbs that are forms of the past as well (set, cut, put, read) are left out.
_ORDER_VERBS: Final = """
add apply ask bake boil bring build buy call change check choose click close combine compare connect consider contact
cook copy count create delete describe disconnect download draw drink eat enter explain find fill fold follow get give
go heat hold imagine insert install join keep learn leave lift listen look make mark measure mix move note open paste
pay place plug pour preheat prepare press pull push raise remove repeat replace reset rinse run save search select send
serve shake sign slice start stir stop store switch take tell test tie tighten try turn type unplug update use verify
visit wait wash watch wear write
"""
_ORDER = _any_of(
    r"^(?:(?:first|second|third|next|then|now|finally|lastly|also|afterwards?),? )?"
    r"(?:please |kindly |simply |just |always |never |carefully )?"
    rf"(?:{'|'.join(_ORDER_VERBS.split())})"
    r" (?:the|a|an|your|you|this|that|these|those|it|them|all|each|every|any|some|both|one|two|three|sure"
    r"|(?:on|off|out|for|to) the|until|for \d+|\d+)\b(?! (?:is|are|was|were)\b)",
    r"^(?:please|let's|let us|do not|don't|be sure|make sure|ensure|remember|avoid|keep in mind|take care|see also"
    r"|see (?=http)|click|refer to|note that you|try to|bear in mind)\b",
    r"^(?:see|visit|check|cf\.?):? *$",
)

_NO_CLAIM = (_REFUSAL, _COURTESY, _DOUBT, _OPINION, _ORDER)


def is_checkable(sentence: Sentence) -> bool:
    """Tell whether `sentence` states something; False only where it plainly does not."""
    text = _read(sentence)
    said = _ADDRESS.sub("", text)
    if not any(map(str.isalnum, said)) or _QUESTION.search(text) or _LABEL.search(text):
        return False
    return not any(pattern.search(text) for pattern in _NO_CLAIM)


def is_refusal(sentence: Sentence) -> bool:
    """Tell whether the assistant declines in `sentence`, or says that it cannot know."""
    return _REFUSAL.search(_read(sentence)) is not None


def _read(sentence: Sentence) -> str:
    return plain_text(sentence.text).replace("’", "'").lstrip(_AROUND)
