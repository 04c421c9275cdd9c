"""Claims without a model: right ones, and no wrong ones."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.claims.claim import Sentence
from proxy.claims.local import LocalSplitter, split_claims
from proxy.claims.segment import split_sentences


def claims_of(draft: str) -> list[str]:
    return [claim.text for claim in split_claims(split_sentences(draft))]


SPLIT = [
    # Biography: predicates that share their subject
    ("Marie Curie was born in Warsaw and won two Nobel Prizes.",
     ["Marie Curie was born in Warsaw.", "Marie Curie won two Nobel Prizes."]),
    ("Marie Curie was born in Warsaw in 1867, studied in Paris, and died in 1934.",
     ["Marie Curie was born in Warsaw in 1867.", "Marie Curie studied in Paris.", "Marie Curie died in 1934."]),
    ("William Shakespeare wrote Hamlet and Macbeth and died in Stratford in 1616.",
     ["William Shakespeare wrote Hamlet and Macbeth.", "William Shakespeare died in Stratford in 1616."]),
    ("Albert Einstein developed the theory of relativity and received the Nobel Prize in Physics in 1921.",
     ["Albert Einstein developed the theory of relativity.",
      "Albert Einstein received the Nobel Prize in Physics in 1921."]),
    ("Thomas Edison invented the phonograph, improved the telephone, and held 1,093 patents.",
     ["Thomas Edison invented the phonograph.", "Thomas Edison improved the telephone.",
      "Thomas Edison held 1,093 patents."]),
    ("Napoleon was defeated at Waterloo and exiled to Saint Helena.",
     ["Napoleon was defeated at Waterloo.", "Napoleon was exiled to Saint Helena."]),
    ("Ada Lorne (1867–1934) was born in Perth but lived in Sydney.",
     ["Ada Lorne (1867–1934) was born in Perth.", "Ada Lorne lived in Sydney."]),
    ("Marie and Pierre Curie discovered polonium and shared the Nobel Prize.",
     ["Marie and Pierre Curie discovered polonium.", "Marie and Pierre Curie shared the Nobel Prize."]),
    # Relative clauses on the subject
    ("Marie Curie, who was born in Warsaw, won two Nobel Prizes.",
     ["Marie Curie was born in Warsaw.", "Marie Curie won two Nobel Prizes."]),
    ("Tokyo, which was formerly known as Edo, became the capital in 1868.",
     ["Tokyo was formerly known as Edo.", "Tokyo became the capital in 1868."]),
    ("Marie Curie was a Polish-born physicist and chemist who conducted pioneering research on radioactivity.",
     ["Marie Curie was a Polish-born physicist and chemist.",
      "Marie Curie conducted pioneering research on radioactivity."]),
    ("Mozart was a composer who lived in Vienna and died in 1791.",
     ["Mozart was a composer.", "Mozart lived in Vienna.", "Mozart died in 1791."]),
    ("Sydney is a city that lies on the coast.", ["Sydney is a city.", "Sydney lies on the coast."]),
    # Places, history and science
    ("The bridge was built in 1913 and renovated in 1950.",
     ["The bridge was built in 1913.", "The bridge was renovated in 1950."]),
    ("The Eiffel Tower is located in Paris and was completed in 1889.",
     ["The Eiffel Tower is located in Paris.", "The Eiffel Tower was completed in 1889."]),
    ("World War II began in 1939 and ended in 1945.", ["World War II began in 1939.", "World War II ended in 1945."]),
    ("The river rises in the Alps and flows into the sea.",
     ["The river rises in the Alps.", "The river flows into the sea."]),
    ("Water consists of hydrogen and oxygen and boils at 100 °C.",
     ["Water consists of hydrogen and oxygen.", "Water boils at 100 °C."]),
    ("The Moon orbits the Earth and has no air.", ["The Moon orbits the Earth.", "The Moon has no air."]),
    ("The population of Canberra is 450,000 and is growing.",
     ["The population of Canberra is 450,000.", "The population of Canberra is growing."]),
    ("The museum is located in Perth and opened in 1913.",
     ["The museum is located in Perth.", "The museum opened in 1913."]),
    ("The king of Spain died in 1913 and was buried in Madrid.",
     ["The king of Spain died in 1913.", "The king of Spain was buried in Madrid."]),
    ("The towers were built in 1913 and rebuilt in 1950.",
     ["The towers were built in 1913.", "The towers were rebuilt in 1950."]),
    ("Sales rose in 2010 and fell in 2011.", ["Sales rose in 2010.", "Sales fell in 2011."]),
    ("DNA is a molecule that carries genetic information.",
     ["DNA is a molecule.", "DNA carries genetic information."]),
    # Clauses with subjects of their own
    ("The bridge was built by Ada Lorne, and the toll was 2 crowns.",
     ["The bridge was built by Ada Lorne.", "The toll was 2 crowns."]),
    ("Jane Austen published Emma in 1815; Charles Dickens published Oliver Twist in 1838.",
     ["Jane Austen published Emma in 1815.", "Charles Dickens published Oliver Twist in 1838."]),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "claims"), SPLIT)
def test_compound_sentences_are_taken_apart(sentence: str, claims: list[str]) -> None:
    """Each statement stands alone with the subject that it shares."""
    assert claims_of(sentence) == claims


WHOLE = [
    # Clauses within, whose verb may belong to another subject
    "Albert Einstein said that light bends and moved to Princeton.",
    "The book describes how the bridge was built and won a prize.",
    "The law requires that drivers stop and was passed in 1913.",
    "Ada Lorne moved to Perth after the war ended and died there.",
    "Sydney is a city in Australia, which is a continent.",
    "Ada Lorne met the engineer who built the bridge and won the prize.",
    "It is a myth that Ada Lorne failed and left the school.",
    # Participles of an object
    "Ada Lorne wrote a book published in 1913 and translated into French.",
    "The bridge was discovered by a team led by Lorne and studied by others.",
    # What reaches over the coordination
    "Marie Curie did not win the prize and left Paris.",
    "Paris was never the capital of Spain and is no port.",
    "The bridge neither opened in 1913 nor closed in 1950.",
    "The bridge was designed and built by Ada Lorne.",
    "The bridge was opened and closed in 1913.",
    "The bridge can open in 1913 and close in 1950.",
    "In 1903, Marie Curie won the Nobel Prize and became famous.",
    "Marie Curie won the prize in 1903 and won it again in 1911.",
    "Canberra is the capital of Australia; Sydney is its largest city.",
    "The first was built in 1913, and the second was built in 1950.",
    "The bridge is long, painted red, and was closed.",
    # Verbs that are not in the tables
    "The report notes Perth was founded in 1829 and grew fast.",
    "The company sells cars and has 5 plants.",
    "The bridge collapsed and was rebuilt.",
    "The film stars Tom Hanks and was released in 1994.",
    "Ada Lorne helped build the bridge and was awarded a medal.",
    # Coordinated nouns and adjectives
    "Marie Curie was a physicist and chemist.",
    "The museum holds paintings and drawings.",
    "The bridge between Perth and the island is long.",
    "Saturn has rings and 146 moons.",
    # No named subject
    "She was born in Warsaw and won two prizes.",
    "There was a bridge and it was long.",
    "During the war the bridge was closed and reopened in 1950.",
    # Quotations
    'Ada Lorne said "It opened in 1913 and was closed in 1950."',
    # Plain ones
    "It did not open in 1931.",
    "Verdane Bridge is 340 metres long.",
    "The deck, the towers, and the cables are made of steel.",
    "About 5,000 people crossed it in 1913.",
    "It may need a permit.",
    "다리는 1913년에 열렸다.",
]


@pytest.mark.parametrize("sentence", WHOLE)
def test_sentences_stay_whole_where_a_split_is_not_safe(sentence: str) -> None:
    """A wrong split is worse than none."""
    assert claims_of(sentence) == [sentence]


CLEAN = [
    ("- **Opened:** 1931 [2]", "Opened: 1931."),
    ("**Verdane Bridge** opened in _1913_[1][2]!", "Verdane Bridge opened in 1913."),
    ("1. the bridge is `long`", "The bridge is long."),
    ("Yes, Verdane Bridge opened in 1931.", "Verdane Bridge opened in 1931."),
    ("However, in fact, it was never closed...", "It was never closed."),
    ("(Verdane Bridge opened in 1913.)", "Verdane Bridge opened in 1913."),
    ("The [bridge](https://ex.test/a) opened\nin 1913", "The bridge opened in 1913."),
    ("iPhone sales were high in 2010", "iPhone sales were high in 2010."),
    ("> It opened in\n> 1913.", "It opened in 1913."),
    ("| -5 °C |", "-5 °C."),
    ("He said “It opened in 1913.”", "He said “It opened in 1913.”"),
    ("It opened in 1913. 🎉", "It opened in 1913."),
    ("桥于1913年开通。", "桥于1913年开通。"),
    ("Canberra", "Canberra."),
]


@pytest.mark.parametrize(("draft", "claim"), CLEAN)
def test_claims_are_clean(draft: str, claim: str) -> None:
    """No marks of Markdown, no citations; a capital first and a full stop last."""
    assert claims_of(draft) == [claim]


RESOLVED = [
    # The subject of the sentence before
    ("Verdane Bridge opened in 1931. It is 340 metres long.",
     ["Verdane Bridge opened in 1931.", "Verdane Bridge is 340 metres long."]),
    ("The Eiffel Tower stands in Paris. It was completed in 1889. It's 330 metres tall.",
     ["The Eiffel Tower stands in Paris.", "The Eiffel Tower was completed in 1889.",
      "The Eiffel Tower is 330 metres tall."]),
    ("Canberra is the capital of Australia. In 1913, it was founded as a city.",
     ["Canberra is the capital of Australia.", "In 1913, Canberra was founded as a city."]),
    ("Marie Curie was a physicist who lived in Paris. She was born in Warsaw and won two Nobel Prizes.",
     ["Marie Curie was a physicist.", "Marie Curie lived in Paris.", "Marie Curie was born in Warsaw.",
      "Marie Curie won two Nobel Prizes."]),
    ("Isaac Newton, an English mathematician, was born in 1642. He formulated the laws of motion.",
     ["Isaac Newton, an English mathematician, was born in 1642.", "Isaac Newton formulated the laws of motion."]),
    ("Marie and Pierre Curie lived in Paris. They discovered polonium.",
     ["Marie and Pierre Curie lived in Paris.", "Marie and Pierre Curie discovered polonium."]),
    ("Verdane Bridge opened in 1913. Its deck is 340 m long.",
     ["Verdane Bridge opened in 1913.", "Verdane Bridge's deck is 340 m long."]),
    ("Verdane Bridge is a bridge in Perth. The bridge opened in 1913. It is 340 m long.",
     ["Verdane Bridge is a bridge in Perth.", "The bridge opened in 1913.", "The bridge is 340 m long."]),
    ("In 1969, Neil Armstrong landed on the Moon. He was born in Ohio.",
     ["In 1969, Neil Armstrong landed on the Moon.", "Neil Armstrong was born in Ohio."]),
    ("Sydney is the capital of Australia. It is located in New South Wales and has a population of 5 million.",
     ["Sydney is the capital of Australia.", "Sydney is located in New South Wales.",
      "Sydney has a population of 5 million."]),
    ("The towers were built in 1913. They are tall.", ["The towers were built in 1913.", "The towers are tall."]),
    # A pronoun again goes on with the same one, whatever else was named meanwhile
    ("Ada Lorne was born in Perth. She met the painter Tomas Hall. She died in 1934.",
     ["Ada Lorne was born in Perth.", "Ada Lorne met the painter Tomas Hall.", "Ada Lorne died in 1934."]),
    ("Verdane Bridge opened in 1913. It crosses the river. It is 340 m long.",
     ["Verdane Bridge opened in 1913.", "Verdane Bridge crosses the river.", "Verdane Bridge is 340 m long."]),
    ("Verdane Bridge opened in 1913. Its deck has two lanes. Its towers are red.",
     ["Verdane Bridge opened in 1913.", "Verdane Bridge's deck has two lanes.", "Verdane Bridge's towers are red."]),
    # What "it" cannot mean: a number, a measure, a place, several things, a stuff in general
    ("The Eiffel Tower weighs 10,100 tonnes. It was finished in 1889.",
     ["The Eiffel Tower weighs 10,100 tonnes.", "The Eiffel Tower was finished in 1889."]),
    ("Norway has a population of 5 million. Its capital is Oslo.",
     ["Norway has a population of 5 million.", "Norway's capital is Oslo."]),
    ("The Berlin Wall fell in 1989. It divided the city.",
     ["The Berlin Wall fell in 1989.", "The Berlin Wall divided the city."]),
    ("Verdane Bridge stands in a park. It is 340 m long.",
     ["Verdane Bridge stands in a park.", "Verdane Bridge is 340 m long."]),
    ("The palace contains paintings. It was built in 1702.",
     ["The palace contains paintings.", "The palace was built in 1702."]),
    ("DNA carries genetic information. It has two strands.",
     ["DNA carries genetic information.", "DNA has two strands."]),
    # Several
    ("Bees are insects that live in colonies. They collect nectar.",
     ["Bees are insects that live in colonies.", "Bees collect nectar."]),
    # After an adverbial that names nobody, inside one, and as an object that cannot be its own subject
    ("Ada Lorne was born in Perth. After a long illness in 1930, she died in Sydney.",
     ["Ada Lorne was born in Perth.", "After a long illness in 1930, Ada Lorne died in Sydney."]),
    ("Trajan was an emperor. Under his rule, the empire grew.",
     ["Trajan was an emperor.", "Under Trajan's rule, the empire grew."]),
    ("Lise Meitner was born in Vienna. The element meitnerium is named after her.",
     ["Lise Meitner was born in Vienna.", "The element meitnerium is named after Lise Meitner."]),
    ("The Eiffel Tower stands in Paris. More than 6 million people visit it each year.",
     ["The Eiffel Tower stands in Paris.", "More than 6 million people visit the Eiffel Tower each year."]),
    ("Ada Lorne was an engineer. “A bridge is a promise,” she wrote.",
     ["Ada Lorne was an engineer.", "“A bridge is a promise,” Ada Lorne wrote."]),
    # A kind that was named
    ("The Amazon is the largest river by volume. This river rises in the Andes.",
     ["The Amazon is the largest river by volume.", "The Amazon rises in the Andes."]),
    ("Verdane was founded in 1204. The town was burnt in 1631. It was rebuilt in stone.",
     ["Verdane was founded in 1204.", "The town was burnt in 1631.", "The town was rebuilt in stone."]),
    # What is asked, and what a list is about
    ("When did Verdane Bridge open? It opened in 1913.", ["Verdane Bridge opened in 1913."]),
    ("Verdane Bridge is long. When did it open? It opened in 1913.",
     ["Verdane Bridge is long.", "Verdane Bridge opened in 1913."]),
    ("How old is the Earth? It is about 4.5 billion years old.", ["The Earth is about 4.5 billion years old."]),
    ("Key facts about Jane Austen:\n\n1. She was born in 1775.\n2. She never married.",
     ["Jane Austen was born in 1775.", "Jane Austen never married."]),
    # What a list is of, and an entry after a fragment under a heading
    ("The official languages are:\n\n- Dutch\n- French\n\nThe king lives in Brussels.",
     ["The official languages are: Dutch.", "The official languages are: French.", "The king lives in Brussels."]),
    ("# Verdane Bridge\n- Length: 340 m\n- It opened in 1913.",
     ["Verdane Bridge: Length: 340 m.", "Verdane Bridge opened in 1913."]),
    # The heading
    ("## Verdane Bridge\nIt opened in 1913.", ["Verdane Bridge opened in 1913."]),
    ("# Verdane Bridge\n- **Opened:** 1931\n- Built by Ada Lorne\n- 340 m long",
     ["Verdane Bridge: Opened: 1931.", "Verdane Bridge: Built by Ada Lorne.", "Verdane Bridge: 340 m long."]),
]  # fmt: skip


@pytest.mark.parametrize(("draft", "claims"), RESOLVED)
def test_pronouns_and_headings_are_resolved(draft: str, claims: list[str]) -> None:
    """A pronoun subject is replaced by the one name that it can mean; an entry carries its heading (C24)."""
    assert claims_of(draft) == claims


UNRESOLVED = [
    # Another that could be meant
    ("Marie Curie married Pierre Curie in 1895. He died in 1906.", "He died in 1906."),
    ("Ada Lorne lived with a painter. She died in 1906.", "She died in 1906."),
    ("Ada Lorne worked with Jane Lorne. She died in 1906.", "She died in 1906."),
    ("Ada Lorne was born in Perth, and Jane Lorne was born in Sydney. She died in 1906.", "She died in 1906."),
    ("Ada Lorne was an engineer. Her husband was a painter. He died in 1950.", "He died in 1950."),
    ("Frida was a painter. She was born in 1907. He was a painter too.", "He was a painter too."),
    ("The company built the bridge. It is 340 m long.", "It is 340 m long."),
    ("Marie Curie discovered polonium. It is a metal.", "It is a metal."),
    ("Verdane Bridge was built by the state. It is 340 m long.", "It is 340 m long."),
    ("Verdane Bridge crosses the Verdane River. It is 340 m long.", "It is 340 m long."),
    ("Verdane Bridge is a bridge in Perth. The city lies on the coast. It is 340 m long.", "It is 340 m long."),
    ("Marie Curie was a physicist. Pierre Curie was born in Paris. He died in 1906.", "He died in 1906."),
    ("Abraham Lincoln was shot by John Wilkes Booth. He died in 1865.", "He died in 1865."),
    ("The bridge collapsed and was rebuilt. It is old.", "It is old."),
    # Not what the pronoun can mean
    ("The towers were built in 1913. It is tall.", "It is tall."),
    ("Marie Curie was a physicist. It is long.", "It is long."),
    ("Verdane Bridge opened in 1913. They doubled the toll.", "They doubled the toll."),
    ("Verdane Bridge opened in 1913. It is believed that the toll was 2 crowns.",
     "It is believed that the toll was 2 crowns."),
    # Something in between
    ("Verdane Bridge opened in 1913. There, the toll was 2 crowns. It is 340 m long.", "It is 340 m long."),
    ("Verdane Bridge opened in 1913. Perhaps the tower opened later. It is 340 m long.", "It is 340 m long."),
    ("Verdane Bridge opened in 1913.\n\n> It is 340 m long.", "It is 340 m long."),
    # No name
    ("## History\nIt opened in 1913.", "It opened in 1913."),
    ("## Marie Curie\nIt opened in 1913.", "It opened in 1913."),
    ("Verdane Bridge opened in 1913.\n## Key facts\nIt is long.", "It is long."),
    ("It opened in 1913.", "It opened in 1913."),
    ("## Verdane Bridge\nIt opened in 1913. There, the toll was 2 crowns. They doubled it later.",
     "They doubled it later."),
]  # fmt: skip


@pytest.mark.parametrize(("draft", "last"), UNRESOLVED)
def test_pronouns_stay_where_it_is_not_sure(draft: str, last: str) -> None:
    """A wrong name would make a false claim of a true one, so in doubt the sentence keeps its pronoun (C24)."""
    assert claims_of(draft)[-1] == last


EXPLETIVES = ["It is believed that the toll was 2 crowns."]


@pytest.mark.parametrize(("draft", "last"), UNRESOLVED)
def test_unresolved_pronouns_are_not_judged(draft: str, last: str) -> None:
    """A claim that could be about anything is `unresolved`, so that it is never contradicted (C24)."""
    claim = split_claims(split_sentences(draft))[-1]
    assert claim.unverifiable == (None if last in EXPLETIVES else "unresolved")


SELF_CONTAINED = [
    "Verdane Bridge opened in 1913, and it is 340 metres long.",
    "Marie Curie moved to Paris in 1891 and studied there.",
    "Baking powder releases gas when it is heated.",
    "Because he was ill, Chopin left Paris.",
    "In his youth, the painter lived in Perth.",
    "After the bridge fell, it was rebuilt.",
    "There are eight planets.",
    "It is a myth that the bridge fell.",
    "It takes 5 days to cross the desert.",
    "Ada Lorne sold the house and left it.",
    '"I wrote it in six weeks," the author said.',
    "Many people think it is Toronto.",
    "That bridge opened in 1913.",
    "Canberra",
]


@pytest.mark.parametrize("sentence", SELF_CONTAINED)
def test_pronouns_within_their_sentence_are_judged(sentence: str) -> None:
    """What the sentence itself names, or nothing at all is meant by, leaves no claim unresolved."""
    assert [claim.unverifiable for claim in split_claims(split_sentences(sentence))] == [None]


DANGLING = [
    "She took over his chair.",
    "Its basin covers 7 million km².",
    "At least 140 people died there.",
    "There, the toll was 2 crowns.",
    "This was a mistake.",
    "Because it contains iron.",
    "According to one survey, it was the oldest.",
    "Einstein called him a genius.",
    "No vaccine protects fully against it.",
    "It was designed by Renzo Piano, who was born in Genoa.",
    "It is said to be haunted.",
    "It was designed to carry trains.",
    "그는 1450년에 죽었다.",
    "Sie erhielt zwei Preise.",
]


@pytest.mark.parametrize("sentence", DANGLING)
def test_what_points_outside_is_not_judged(sentence: str) -> None:
    """Wherever in the sentence the word stands that nothing before shows the meaning of (C24)."""
    assert [claim.unverifiable for claim in split_claims(split_sentences(sentence))] == ["unresolved"]


@pytest.mark.parametrize(
    ("sentence", "claim"),
    [
        ("Its cost is unknown, but it was perhaps paid by the state.", "Its cost is unknown."),
        ("The bridge opened in 1913, and I think it is lovely.", "The bridge opened in 1913."),
        ("The hall, probably the oldest part, was restored in 1998.", "The hall was restored in 1998."),
        ("The museum (perhaps the best in town) has three floors.", "The museum has three floors."),
    ],
)
def test_what_is_stated_beside_a_hedge_is_a_claim(sentence: str, claim: str) -> None:
    """A guess or an opinion in one part of a sentence does not take back what another part states (C27)."""
    assert claims_of(sentence) == [claim]


def test_section_titles_are_no_subjects() -> None:
    """A heading that names a section says nothing about an entry below it."""
    assert claims_of("## Key facts\n- Opened: 1931") == ["Opened: 1931."]
    assert claims_of("## Works by Ada Lorne\n- Verdane Bridge") == ["Works by Ada Lorne: Verdane Bridge."]


def test_only_checkable_sentences_give_claims() -> None:
    """Greetings, questions, hedges and instructions give none (C26, C27)."""
    draft = "Sure! Did it open in 1931? It may have opened in 1931. I find it lovely. It did not open in 1931. Hi!"
    assert claims_of(draft) == ["It did not open in 1931."]


def test_claims_know_their_sentence() -> None:
    """Each claim is anchored to the sentence that it comes from."""
    sentences = split_sentences("Hi! The bridge was built in 1913 and rebuilt in 1950.")
    assert [claim.sentence for claim in split_claims(sentences)] == [sentences[1]] * 2


def test_unverifiable_sentence_is_one_claim() -> None:
    """What cannot be judged as it stands is not split, and hides what a later pronoun means."""
    opened, closed, long = split_sentences("Verdane Bridge opened in 1913. It was closed and rebuilt. It is long.")
    claims = split_claims([opened, replace(closed, unverifiable="language"), long])
    assert [(claim.text, claim.unverifiable) for claim in claims] == [
        ("Verdane Bridge opened in 1913.", None),
        ("It was closed and rebuilt.", "language"),
        ("It is long.", "unresolved"),
    ]


def test_left_out_sentences_count_as_said() -> None:
    """The claims are the same whether sentences without a claim are left out before or not."""
    sentences = split_sentences("Verdane Bridge opened in 1913. I think the tower is old. It is long.")
    assert split_claims(sentences) == split_claims([sentences[0], sentences[2]])


EVERY_DRAFT = [draft for draft, _ in [*SPLIT, *CLEAN, *RESOLVED, *UNRESOLVED]] + WHOLE
DRAFTS = st.lists(st.sampled_from(EVERY_DRAFT), min_size=1, max_size=5).map("\n\n".join)


@settings(deadline=None)
@given(draft=DRAFTS)
def test_streamed_sentences_give_the_same_claims(draft: str) -> None:
    """A claim depends on its sentence and those before it, never on what follows."""
    sentences = split_sentences(draft)
    splitter = LocalSplitter()
    streamed = [claim for sentence in sentences for claim in splitter.split(sentence)]
    assert streamed == split_claims(sentences)
    half = sentences[: len(sentences) // 2]
    assert split_claims(half) == streamed[: len(split_claims(half))]


@settings(deadline=None)
@given(draft=DRAFTS)
def test_no_word_is_invented(draft: str) -> None:
    """The words of a claim are the draft's, but for a written-out "It's" and the 's of an owner."""
    said = set(re.findall(r"[^\W_]+", draft.lower())) | {"is", "s"}
    for claim in split_claims(split_sentences(draft)):
        assert set(re.findall(r"[^\W_]+", claim.text.lower())) <= said


@settings(deadline=None)
@given(text=st.text(max_size=60), heading=st.none() | st.text(max_size=20))
def test_any_text_is_taken(text: str, heading: str | None) -> None:
    """Whatever a sentence holds, its claims end in a full stop and nothing raises."""
    for claim in split_claims([Sentence(0, (0, len(text)), text, heading)]):
        assert re.search(r"[.。｡？！।॥۔?][\"'”’)」』]*$", claim.text)
