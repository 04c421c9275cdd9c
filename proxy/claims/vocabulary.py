"""The words by which the local decomposition reads English sentences.

In: nothing. Out: tables of verbs, nouns and small words. They stand apart because they are knowledge, not logic: a
word missing here only means that a sentence stays whole or a pronoun unresolved.
"""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BE: Final = _words("is are was were")
BECOME: Final = _words("became becomes remained remains")
"""Verbs that say what something is, as BE does."""
HAVE: Final = _words("has have had")
AUXILIARIES: Final = BE | HAVE | _words("does did")
MODALS: Final = _words("can could will would may might must shall should")

INTRANSITIVE_PAST: Final = _words(
    """
    died lived moved returned emigrated immigrated settled resided worked studied served graduated retired remained
    stayed arrived travelled traveled appeared emerged lasted belonged occurred happened competed participated
    collaborated resigned married ended started disappeared landed toured
    """
)
"""Past forms that need no object and are hardly ever passive participles."""

PLAIN_PAST: Final = _words(
    """
    became began wrote went gave took flew grew knew sang ran chose fell drew drove spoke broke wore withdrew
    swam sank came ate rode shook stole swore threw forgot froze woke arose overtook undertook foresaw oversaw
    """
)
"""Past forms that differ from the participle, so that they cannot belong to a passive."""

TRANSITIVE_PAST: Final = _words(
    """
    won discovered founded built designed published received earned developed invented created produced directed led
    held joined established opened closed completed released recorded composed painted commanded conquered
    defeated signed introduced launched formed acquired bought sold played scored hosted ruled governed crossed reached
    covered spent lost left visited explored conducted coined proposed formulated proved demonstrated measured gained
    improved shared imposed
    """
)
"""Past forms that are participles as well; with an object after them they are active."""

PASSIVE: Final = _words(
    """
    built rebuilt opened reopened closed renovated restored designed completed founded established raised educated
    buried published released destroyed demolished damaged named renamed elected appointed crowned knighted killed
    executed arrested imprisoned exiled sold bought acquired expanded extended widened replaced removed abandoned
    dedicated inaugurated incorporated composed written recorded filmed directed produced discovered isolated measured
    translated adopted adapted baptised baptized introduced launched created developed invented constructed
    """
)
"""Participles that share the "was" of the verb before them: was built in 1913 and rebuilt in 1950."""

PRESENT: Final = _words(
    """
    contains includes consists belongs becomes covers borders flows lies stands spans connects crosses links serves
    houses attracts employs operates runs uses holds orbits rotates revolves reaches measures weighs grows lives boils
    freezes melts dissolves reacts absorbs emits converts generates occurs exists provides represents produces remains
    empties rises begins ends stretches carries pumps protects reflects regulates causes reduces increases relieves
    prevents treats affects requires allows enables creates forms supports controls transmits stores releases destroys
    kills attacks eats hunts breeds migrates inhabits enters leaves passes joins separates divides surrounds overlooks
    features hosts offers supplies exports imports governs prohibits grants defines explains describes
    """
)

OTHER_FINITE: Final = _words("made taught saw rose became says said means meant shows showed takes makes gives plays")
"""Verbs that may follow a subject, but are too often something else to split at."""

FINITE: Final = OTHER_FINITE | AUXILIARIES | MODALS | INTRANSITIVE_PAST | PLAIN_PAST | TRANSITIVE_PAST | PRESENT

SELF_STANDING: Final = INTRANSITIVE_PAST | _words("opened closed began lies stands flows became remains exists")
"""Verbs without an object, so that after them "it" can only mean their subject."""

SAID_OF_THINGS: Final = _words(
    """
    located situated built opened founded established constructed completed named lies stands flows covers borders
    spans consists contains written published painted composed recorded released
    """
)

DONE_BY_PEOPLE: Final = _words(
    """
    died married lived resided studied worked taught wrote sang spoke swore emigrated immigrated settled graduated
    retired resigned competed collaborated moved went travelled traveled toured said says
    """
)
"""Verbs that hardly ever have a thing for their subject."""
DONE_BY_THINGS: Final = _words(
    """
    contains includes consists belongs connects links flows empties boils freezes melts dissolves reacts absorbs emits
    converts generates occurs orbits rotates revolves weighs houses spans stretches
    """
)
"""Present forms that have no person for their subject."""

SUBORDINATORS: Final = _words(
    """
    that which who whom whose where when while because although though if unless whether than wherever whenever how why
    """
)
OF_PEOPLE: Final = _words("who whom whose")
"""Words that say something of a person named just before."""
PREPOSITION_OR_CLAUSE: Final = _words("since until till after before as once like")
NEGATIONS: Final = _words("not never no neither nor none without hardly rarely only both either cannot")
"""Words whose reach over a coordination cannot be told."""
BACKWARD: Final = _words(
    "there it them this these those so such one ones again likewise respectively same former latter"
)
"""Words that point at something said before, so that what holds them does not stand alone."""
PREPOSITIONS: Final = _words(
    "in on at of by for from to with into near between under over through during across against about along behind"
)
ADVERBS: Final = _words(
    """
    also later then first originally still eventually subsequently famously officially once now currently finally
    initially soon already formerly successfully quickly immediately
    """
)
SEVERAL: Final = _words("two three four five six seven eight nine ten several many both")
OBJECT_STARTERS: Final = SEVERAL | _words("the a an his her its their some")
ELLIPTIC: Final = _words("first second third fourth last latter former other others same one two next rest most")
"""Words that after "the" leave out the noun they belong to."""
DETERMINERS: Final = _words("a an the this that another its")
KIND_STARTERS: Final = _words("a an the one")
NO_RIVALS: Final = _words(
    """
    year years century centuries end beginning start early late mid public time north south east west same
    population area length height width depth weight diameter elevation capacity total number
    """
)
"""Nouns after "the" that "it" in the next sentence does not mean."""
ROUGHLY: Final = _words("about around approximately roughly nearly almost over exactly")
"""Words before a number."""
PLACE_PREPOSITIONS: Final = _words("in at near into across on outside within throughout around since until during")
MOTION: Final = _words("moved returned emigrated immigrated went travelled traveled came graduated")
PARTICLES: Final = _words("of de von van der den du da di la le el al bin ibn y the and & for")
"""Lower-case words within names."""
PRONOUNS: Final = _words("he she it they")
POSSESSIVES: Final = _words("his her its their")
NO_NAMES: Final = _words(
    """
    a an this that these those some many most all both each every any no not none one two three several few such other
    another what who whom whose which when where why how there here i we you he she it they my your our his her its
    their in on at by for from to with as since until after before during despite although though because while if
    unless however also thus hence therefore then today now later yes sure please let nor or and but so according about
    among between under over through across against given following
    """
)
"""Words that a sentence starts with and no name does."""
MONTHS: Final = _words("january february march april may june july august september october november december")

THINGS: Final = _words(
    """
    bridge tower river city town village country state capital mountain lake island ocean sea university college school
    museum church cathedral castle palace temple library hospital airport station stadium park company corporation inc
    bank organisation organization institute agency newspaper magazine book novel film movie song album opera painting
    ship aircraft planet moon star galaxy element metal compound gas protein virus disease species animal plant tree
    mammal bird fish language religion empire kingdom republic war battle treaty prize award building structure road
    highway railway canal dam tunnel street square house hotel theatre theater programme program software engine machine
    instrument game sport team club festival monument memorial region province county district continent desert valley
    peninsula strait bay port harbour harbor fortress wall statue telescope satellite spacecraft rocket reef falls
    """
)
PEOPLE: Final = _words(
    """
    husband wife spouse son daughter brother sister father mother parent child friend colleague teacher student uncle
    aunt nephew niece cousin partner rival assistant successor predecessor king queen prince princess emperor empress
    president minister pope man woman boy girl physicist chemist scientist writer author poet painter artist engineer
    architect composer politician general explorer inventor philosopher mathematician
    """
)
SECTION_TITLES: Final = _words(
    """
    history overview background design construction introduction summary conclusion legacy career biography awards
    education geography etymology references notes facts life death family works reception impact significance features
    characteristics uses applications details location structure culture economy climate demographics population
    transport answer example examples steps timeline context description early later key main personal
    """
)
"""Words that headings are made of which name a section, not what the answer is about."""
