"""Evidence from the operator's search, for contradictions that the recall is not sure of (docs/retrieval.md)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest
from structlog.testing import capture_logs

from fakes import CLOSE, HANG, FakeNli, Script, ScriptedUpstream, Step, compare_words, completion, contradicts, html
from fakes.scene import Scene
from fakes.script import F, R, T
from proxy.nli.scoring import Probabilities
from retrieval_server import Index, make_server, read_passages

Stage = Callable[..., Scene]

FALSE = "Verdane Bridge opened in 1931."
IN_1913 = "Verdane Bridge opened in 1913."
FOR_1913 = "The town archive says that Verdane Bridge opened in 1913."
FOR_1931 = "The town archive says that Verdane Bridge opened in 1931."


def judge_unsurely(premise: str, hypothesis: str) -> Probabilities:
    """Judge by words, yet only half believe what the recall says against a claim."""
    judged = compare_words(premise, hypothesis)
    return contradicts(0.6) if judged.contradicts and premise in {R, IN_1913} else judged


def found(*texts: str) -> Step:
    """Return the search's reply."""
    return Step(body=(json.dumps({"passages": [{"text": text, "source": "archive"} for text in texts]}).encode(),))


Search = Callable[..., Scene]


@pytest.fixture
def search(stage: Stage, upstream: ScriptedUpstream) -> Search:
    """Play a script through a proxy whose search answers as told and whose recall is half believed."""

    def start(reply: Step, script: Script | None = None) -> Scene:
        upstream.play(Script(other=reply))
        url = f"{upstream.url}/search?key=SEARCH-KEY"
        return stage(script or Script(), nli=FakeNli(judge_unsurely), retrieval_url=url)

    return start


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[str]:
    """The example server over two files; its address."""
    (tmp_path / "bridges.txt").write_text(f"The harbour has two cranes.\n\n{FOR_1913} It is red.\n", encoding="utf-8")
    (tmp_path / "towns.md").write_text("# Verdane\n\nThe town has a market AND a mill.\n", encoding="utf-8")
    with make_server(Index(read_passages(tmp_path)), 0) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/search"
        server.shutdown()
        thread.join()


def test_what_the_search_contradicts_is_corrected(search: Search, upstream: ScriptedUpstream) -> None:
    """A half-believed contradiction that a passage bears out is edited; only the claim was sent to the search."""
    answer = search(found(FOR_1913)).verify(headers={"authorization": "Bearer sk-canary"})
    assert answer.content == T
    assert answer.verdicts == ["corrected", "accepted"]
    claim = answer.choice["claims"][0]
    assert (claim["premise"], claim["score"]) == (FOR_1913, -0.95)
    # The line is drawn from the scores as they are reported: -.95 and .95.
    assert answer.choice["threshold"]["mu"] == pytest.approx(0)
    assert answer.choice["threshold"]["sigma"] == pytest.approx(0.95)
    [call] = upstream.of("other")
    assert call.json == {"query": FALSE, "limit": 5}
    assert (call.method, call.target) == ("POST", "/search?key=SEARCH-KEY")
    assert call.header("authorization") == []


def test_what_the_search_bears_out_is_accepted(search: Search) -> None:
    """A passage for the claim outweighs the half-believed recall."""
    answer = search(found("The harbour has two cranes.", FOR_1931)).verify()
    assert answer.content == F
    assert answer.verdicts == ["accepted", "accepted"]
    assert answer.outcome == "verified"


def test_passages_that_disagree_leave_it_contested(search: Search) -> None:
    """One passage for, one against: the claim has no score."""
    answer = search(found(FOR_1913, FOR_1931)).verify()
    assert answer.content == F
    assert answer.verdicts == ["unverifiable: contested", "accepted"]


UNUSABLE = {
    "nothing": found(),
    "silent": found("The harbour has two cranes."),
    "foreign": found("다리는 1913년에 개통되었다."),
    "blank": found(" \n"),
    "status": html(503, "Verdane Bridge"),
    "redirect": Step(status=302, headers=(("location", "/other"),)),
    "html": html(200, "Verdane Bridge"),
    "shape": Step(body=(b'["Verdane Bridge opened in 1913."]',)),
    "type": Step(body=(b'{"passages": [{"text": 1913}]}',)),
    "deep": Step(body=(b'{"passages": ' + b"[" * 100_000,)),
    "long": found("x" * 1_000_001),
    "closed": Step(body=(CLOSE,)),
}


@pytest.mark.parametrize("reply", UNUSABLE.values(), ids=UNUSABLE)
def test_without_evidence_the_recalls_verdict_stands(search: Search, reply: Step) -> None:
    """A search that finds nothing, or fails in any way, changes nothing and is logged without any text."""
    with capture_logs() as lines:
        answer = search(reply).verify()
    assert answer.content == F
    assert answer.verdicts == ["neutral", "accepted"]
    assert answer.outcome == "inconclusive"
    assert answer.choice["claims"][0]["score"] == -0.6
    failed = [line for line in lines if line["event"] == "retrieval failed"]
    assert [line["id"] for line in failed] == [answer.report["id"]] * len(failed)
    assert bool(failed) == (reply not in [UNUSABLE[name] for name in ("nothing", "silent", "foreign", "blank")])
    assert not [secret for secret in ("Verdane", "1931", "SEARCH-KEY") if secret in repr(lines)]


def test_a_slow_search_leaves_time_for_the_verdicts(search: Search) -> None:
    """A search that never answers is given up before the budget is."""
    answer = search(found(FOR_1913).held(HANG)).verify(headers={"X-Verify-Timeout-Ms": "2000"})
    assert answer.outcome == "inconclusive"
    assert answer.report["timings_ms"]["overhead"] < 2000


def test_a_search_that_is_not_there(stage: Stage) -> None:
    """Nobody listens at the address: the verdict stands."""
    scene = stage(Script(), nli=FakeNli(judge_unsurely), retrieval_url="http://127.0.0.1:9/search")
    assert scene.verify().outcome == "inconclusive"


@pytest.mark.parametrize(
    ("script", "verify"),
    [
        (Script(draft=completion(T)), {}),
        (Script(recall=completion("The town is small.")), {}),
        (Script(recall=completion(f"{FOR_1913} It is 340 metres long.")), {}),
        (Script(), {"context": [FOR_1931]}),
        (Script(), {"context": [R], "reference": "context"}),
        (Script(), {"context": [IN_1913]}),
        (Script(), {"rule": "fixed", "k": 0, "mode": "off"}),
    ],
    ids=["entailed", "silent", "sure", "context", "context alone", "unsure context", "off"],
)
def test_only_low_confidence_contradictions_of_the_recall_are_looked_up(
    search: Search, upstream: ScriptedUpstream, script: Script, verify: dict[str, object]
) -> None:
    """What is decided, or was decided by the documents, is nobody else's business."""
    search(found(FOR_1913), script).ask(verify=verify)
    assert upstream.of("other") == []


@pytest.mark.parametrize("n", [1, 2, 3])
def test_eight_claims_are_looked_up_at_most(stage: Stage, upstream: ScriptedUpstream, n: int) -> None:
    """However many claims are doubtful, the search is asked eight times, in equal shares for all choices."""
    upstream.play(Script(other=found()))
    draft = " ".join(f"Bridge {number} opened in the north." for number in range(30, 42))
    nli = FakeNli(lambda premise, _: contradicts(0.6) if premise == "It is so." else contradicts(0))
    script = Script(draft=completion(*[draft] * n), recall=completion("It is so."))
    scene = stage(script, nli=nli, retrieval_url=f"{upstream.url}/search")
    answer = scene.verify(n=n, verify={"claims": "local", "rule": "fixed"})
    assert answer.outcome == "inconclusive"
    asked = [call.json["query"] for call in upstream.of("other") if call.json]
    share = 8 // n
    assert sorted(asked) == sorted([f"Bridge {number} opened in the north." for number in range(30, 30 + share)] * n)


def test_the_example_server_finds_evidence(stage: Stage, archive: str) -> None:
    """The search that docs/retrieval.md offers works as it says, over HTTP and SQLite."""
    scene = stage(Script(), nli=FakeNli(judge_unsurely), retrieval_url=archive)
    answer = scene.verify()
    assert answer.content == T
    assert answer.choice["claims"][0]["premise"] in {FOR_1913, f"{FOR_1913} It is red."}


@pytest.mark.parametrize("query", ["", "?!", '"', "AND OR NOT", "mill*", "text:x", "NEAR(a b)", "é 다리"])
def test_the_example_server_takes_any_claim(tmp_path: Path, query: str) -> None:
    """No claim is read as an operator of the index."""
    (tmp_path / "towns.md").write_text("The town has a market AND a mill.", encoding="utf-8")
    results = Index(read_passages(tmp_path)).search(query, 5)
    assert [passage["source"] for passage in results] == (
        ["towns.md"] if query in {"AND OR NOT", "mill*", "NEAR(a b)"} else []
    )
