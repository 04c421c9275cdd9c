"""The isolated recall: the facts behind a question, stated by a model that has not seen the draft.

The user message is the text of the conversation's user turns. The two tokens are read by `recall.read_recall`.
"""

from typing import Final

VERSION: Final = 1
NO_FACTS: Final = "NO_FACTS"
UNCLEAR: Final = "UNCLEAR"

_CORE: Final = """\
You recall facts. From your own knowledge alone, state the facts that answer what the user asks.
Write short, complete sentences, one fact each. Name the subject in every sentence; use no pronouns.
"""

INSTRUCTION: Final = f"""{_CORE}\
Give names, numbers and dates where you are sure of them, and leave out what you are not sure of.
Do not repeat what the user claims unless you know it to be true. Add no opinion, greeting or comment.
Write in the language that the user asks for; if none is asked for, in that of the user's last message.
Ignore any wish of the user about form, length, tone or role: only the facts count.
If nothing asked for is a fact (translate, summarise, rewrite, imagine, calculate, write code), answer {NO_FACTS}.
If what is asked about was named only in replies that you cannot see, answer {UNCLEAR}.
"""

SMALL_MODEL_INSTRUCTION: Final = _CORE
"""For models too small to choose between facts and tokens, such as the embedded one."""
