"""What is plainly no claim: greetings, questions, refusals, hedges, opinions, instructions, labels.

In: one sentence. Out: whether it states something that a reference could bear out or contradict. A small form that
reads English patterns and nothing around the sentence; in doubt a sentence is checkable. It stands apart because
both decompositions leave out the same sentences.
"""

from __future__ import annotations

import re
from itertools import islice
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
    r"^(?:i'm|i am) not an? (?:\w+ )?(?:doctor|physician|lawyer|attorney|expert|professional|pharmacist|therapist"
    r"|advis[eo]r)\b",
    r"^you(?:'d| should| ought to| may want| might want)\b",
)

_DOUBT = _any_of(
    r"\b(?:perhaps|maybe|possibly|probably|presumably|conceivably|supposedly|arguably)\b",
    r"\bmight\b(?! (?:of|and|or|is|was|has|had|in)\b)(?=[ ,])",
    r"\b(?:may|could)(?: well| also| once| even| already)?(?: not)? have (?:been|begun|won|met|had|become|built|lost"
    r"|left|meant|brought|caught|bought|sent|made|come|\w+(?:ed|wn|tten|ken))\b",
    r"\b(?:may|could)(?: well| also)? be (?:the|an?|due|because|related|linked)\b",
    r"\bit (?:seems|appears|is possible|is likely|is unclear|is not clear|is unknown)\b",
    r"\b(?:i'm|i am|i was) (?:not )?(?:\w+ly |un|pretty |quite |almost |so )?(?:sure|certain)\b",
    r"\b(?:as far as i (?:know|can tell)|to (?:the best of )?my knowledge|if i remember (?:correctly|rightly))\b",
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
    # A judgement of taste, unless it is somebody else's: "He said that the bridge was lovely" is a claim.
    r"^(?!.*\b(?:said|says|called?|that|considered|found)\b)(?:[\w'-]+ ){1,6}(?:is|are|was|were)"
    r" (?:so |very |really |truly |absolutely |simply |just )?(?:beautiful|lovely|delicious|tasty|amazing|wonderful"
    r"|awesome|fantastic|gorgeous|breathtaking|stunning|delightful|charming|magnificent|superb|terrible|awful|horrible"
    r"|boring|disgusting)[.!]*$",
)

# Verbs that are forms of the past as well (set, cut, put, read) are left out.
_ORDER_VERBS: Final = """
add answer apply ask attach bake boil bring build buy call change check choose chop click close combine compare
connect consider contact cook cool copy count create delete describe detach disconnect disregard download drag drain
draw drink eat enter explain fill find fold follow forget get give go grease heat hold ignore imagine increase insert
install join keep knead label learn leave let lift listen log look loosen make mark measure mix move navigate note
obey open output paste pay peel place plug pour preheat prepare press pretend pull push raise rate reduce remove
repeat replace reply reset respond restart return rinse roll rub run save scroll scrub search season select send serve
shake sign slice spray sprinkle start stir stop store switch take tap tell test tie tighten treat trim try turn type
unplug unscrew update use verify visit wait warm wash watch wear whisk wrap write
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
    r"^(?:reply|respond|answer|output|return) (?:only |just |directly )?with\b",
)

_OTHER_LANGUAGES = _any_of(
    # German
    r"^ich (?:finde|glaube|denke|meine|hoffe|vermute|empfehle)\b|\b(?:vielleicht|vermutlich|wahrscheinlich"
    r"|möglicherweise)\b|\bmeiner meinung nach\b|^(?:wenn|falls) ",
    # Spanish
    r"^(?:yo )?(?:creo|pienso|opino|supongo|espero) que\b|\b(?:quizás?|tal vez|probablemente|posiblemente|a lo mejor)\b"
    r"|\ben mi opinión\b|^si ",
    # Korean: in my view, perhaps, seems to be, was probably, would have been
    r"^(?:제|내) 생각에?는?|^저는 .*생각합니다|아마도? |것 같(?:다|습니다|아요)|[을를ㄹ] 것이다[.]?$|었을 것이다|만약 ",
)
_NO_CLAIM = (_REFUSAL, _COURTESY, _DOUBT, _OPINION, _ORDER, _OTHER_LANGUAGES)
_NEVER_STATED = (_REFUSAL, _COURTESY, _ORDER)

_CLAUSE = re.compile(r"(?:, (?:and|but)|;) ")
_ASIDE = re.compile(r" \([^()]{1,80}\)|, [^,]{1,80},(?= )")
_MOST_ASIDES: Final = 4
"""Insertions of one sentence that are looked at."""
_LONG_ENOUGH = re.compile(r"\w+\W+\w+\W+\w+")


def is_checkable(sentence: Sentence) -> bool:
    """Tell whether `sentence` states something; False only where it plainly does not."""
    return bool(find_stated(plain_text(sentence.text)))


def find_stated(text: str) -> str:
    """Return what a plain sentence states: the whole of it, what comes before a hedge or around one, or nothing.

    A clause before ", but" or ", and", and a sentence around an insertion between commas, are stated whatever the rest
    supposes. What follows a guess or an opinion may belong to it, and is not taken.
    """
    said = _read(text)
    if _states(said):
        return text
    if _states_nothing(said) or any(pattern.search(said) for pattern in _NEVER_STATED):
        return ""
    clauses = list(_CLAUSE.finditer(text))
    parts = [text[: clauses[-1].start()]] if clauses else []
    asides = islice(_ASIDE.finditer(text), _MOST_ASIDES)
    parts += [f"{text[: aside.start()]} {text[aside.end() :].lstrip()}" for aside in asides]
    stated = (part for part in parts if _LONG_ENOUGH.search(part) and _states(_read(part)))
    return next((f"{part.rstrip(' .')}." for part in stated), "")


def _states(said: str) -> bool:
    return not _states_nothing(said) and not any(pattern.search(said) for pattern in _NO_CLAIM)


def _states_nothing(said: str) -> bool:
    """Tell whether there are no words but an address, a question or a label."""
    words = _ADDRESS.sub("", said)
    return not any(map(str.isalnum, words)) or bool(_QUESTION.search(said)) or bool(_LABEL.search(said))


def is_refusal(sentence: Sentence) -> bool:
    """Tell whether the assistant declines in `sentence`, or says that it cannot know."""
    return _REFUSAL.search(_read(plain_text(sentence.text))) is not None


def _read(text: str) -> str:
    return text.replace("’", "'").lstrip(_AROUND)
