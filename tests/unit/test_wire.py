"""OpenAI's shapes: what is understood of them, and that everything else survives."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire import ChatRequest, Choice, Completion, forwarded_body, read_completion, read_request, skip_reason

ASKED = {"model": "gpt-test", "messages": [{"role": "user", "content": "When did it open?"}]}


def request(**members: object) -> ChatRequest:
    """Return a request with these members beside model and messages."""
    read = read_request(json.dumps(ASKED | members).encode())
    assert read is not None
    return read


def turns(*messages: object) -> ChatRequest:
    """Return a request with these messages."""
    return request(messages=list(messages))


def completion(*choices: object, **members: object) -> Completion:
    """Return a completion with these choices."""
    read = read_completion(json.dumps({"choices": list(choices)} | members).encode())
    assert read is not None
    return read


def choice(message: object = None, **members: object) -> Choice:
    """Return a completion's one choice."""
    return completion({"index": 0, "message": message, "finish_reason": "stop"} | members).choices[0]


def said(content: object) -> Choice:
    """Return a choice with this content."""
    return choice({"role": "assistant", "content": content})


class TestRequest:
    """Reading the user's request."""

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"null",
            b"[]",
            b'"text"',
            b"{",
            b'{"a": 1} {}',
            b"{'a': 1}",
            b'{"a": NaN}',
            b'{"a": "\xff"}',
            b'\xef\xbb\xbf{"a": 1}',
            '{"a": 1}'.encode("utf-16"),
            b"model=gpt-test",
            b'{"a":' * 100_000,
        ],
    )
    def test_no_json_object(self, body: bytes) -> None:
        """What is no JSON object is nobody's request; the upstream is to refuse it."""
        assert read_request(body) is None

    @pytest.mark.parametrize(
        ("members", "attribute", "value"),
        [
            ({}, "model", "gpt-test"),
            ({"model": None}, "model", ""),
            ({"model": 5}, "model", ""),
            ({}, "verify", None),
            ({"verify": {"k": 1}}, "verify", {"k": 1}),
            ({"verify": False}, "verify", False),
            ({}, "streamed", False),
            ({"stream": True}, "streamed", True),
            ({"stream": False}, "streamed", False),
            ({"stream": "true"}, "streamed", False),
            ({}, "wants_usage_chunk", False),
            ({"stream_options": {"include_usage": True}}, "wants_usage_chunk", True),
            ({"stream_options": {"include_usage": False}}, "wants_usage_chunk", False),
            ({"stream_options": None}, "wants_usage_chunk", False),
            ({"stream_options": [1]}, "wants_usage_chunk", False),
            ({}, "wants_json", False),
            ({"response_format": {"type": "text"}}, "wants_json", False),
            ({"response_format": {"type": "json_object"}}, "wants_json", True),
            ({"response_format": {"type": "json_schema", "json_schema": {}}}, "wants_json", True),
            ({"response_format": "json"}, "wants_json", False),
        ],
    )
    def test_member(self, members: dict[str, object], attribute: str, value: object) -> None:
        """Members are read where they make sense; odd values are for the upstream to refuse."""
        assert getattr(request(**members), attribute) == value

    def test_user_texts(self) -> None:
        """User turns give their text, parts joined; what is no text is left out, and so are blank turns."""
        asked = turns(
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Name a bridge."},
            {"role": "assistant", "content": "Verdane Bridge."},
            {"role": "user", "content": " \n"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "When did"},
                    {"type": "image_url", "image_url": {"url": "data:,"}},
                    {"type": "text", "text": "it open?"},
                    {"type": "text"},
                    {"type": "text", "text": 5},
                    "loose",
                ],
            },
            {"role": "user", "content": None},
            {"role": "user"},
            {"role": "user", "content": {"text": "odd"}},
            "odd",
            None,
        )
        assert asked.user_texts == ("Name a bridge.", "When did\nit open?")

    def test_given_texts(self) -> None:
        """System, developer and tool texts are what the model was given; assistant turns are not."""
        asked = turns(
            {"role": "system", "content": "Our archive says 1931."},
            {"role": "developer", "content": [{"type": "text", "text": "Use metres."}]},
            {"role": "assistant", "content": "As I said.", "tool_calls": None},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
            {"role": "tool", "tool_call_id": "1", "content": "Length: 340"},
            {"role": "function", "name": "f", "content": "Toll: 2"},
            {"role": "user", "content": "When?"},
        )
        assert asked.given_texts == ("Our archive says 1931.", "Use metres.", "Length: 340", "Toll: 2")

    @pytest.mark.parametrize("messages", [None, [], {}, "hello", [[]], 5])
    def test_odd_messages(self, messages: object) -> None:
        """Messages that are none are no texts."""
        asked = request(messages=messages)
        assert (asked.user_texts, asked.given_texts, asked.has_unseen_input) == ((), (), False)

    @pytest.mark.parametrize(
        ("message", "unseen"),
        [
            ({"role": "user", "content": "When?"}, False),
            ({"role": "user", "content": [{"type": "text", "text": "When?"}]}, False),
            ({"role": "user", "content": [{"type": "text", "text": "Which?"}, {"type": "image_url"}]}, True),
            ({"role": "user", "content": [{"type": "input_audio"}]}, True),
            ({"role": "user", "content": [{"type": "file"}]}, True),
            ({"role": "user", "content": ["odd"]}, True),
            ({"role": "system", "content": [{"type": "image_url"}]}, False),
            ({"role": "assistant", "content": [{"type": "refusal"}]}, False),
        ],
    )
    def test_unseen_input(self, message: dict[str, object], unseen: bool) -> None:
        """A part of a user turn that is no text cannot be seen by a recall."""
        assert turns(message, {"role": "user", "content": "Then?"}).has_unseen_input is unseen


ODD = b'{ "model":"m" ,"seed": 1.0E+2,"big":123456789012345678901234567890,"s":"\\u00e9\\/", "x":{ "a" : [1 ,-0] } %s}'


VALUES = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        0.1,
        1e-7,
        10**25,
        2**64,
        "",
        "naïve 서울 🌉",
        '\\ " \n',
        [],
        {},
        [1, [2]],
        {"verify": {"stream": [None]}},
    ]
)
NAMES = st.sampled_from(["model", "messages", "stream", "x_vendor", "", "Verify", "verify ", "ключ", "\n"]) | st.text(
    max_size=3
)


class TestForwardedBody:
    """What the upstream gets of the user's request."""

    @pytest.mark.parametrize(
        "more", [b"", b', "stream":true, "stream_options":{"a":1}', b', "Verify":1, "x":{"verify":1}']
    )
    def test_untouched(self, more: bytes) -> None:
        """A body without `verify` goes byte for byte."""
        body = ODD % more
        read = read_request(body)
        assert read is not None
        assert forwarded_body(read) == body

    @pytest.mark.parametrize("verify", [b"false", b"null", b'{"k": 1}', b'{"mode": "off"}'])
    def test_verify_is_cut_out(self, verify: bytes) -> None:
        """`verify` goes, and every other member keeps its own bytes: number formats, escapes, white space within."""
        read = read_request(ODD % (b', "verify":' + verify + b', "stop":null'))
        assert read is not None
        kept = msgspec.json.decode(forwarded_body(read), type=dict[str, msgspec.Raw])
        assert {name: bytes(value) for name, value in kept.items()} == {
            "model": b'"m"',
            "seed": b"1.0E+2",
            "big": b"123456789012345678901234567890",
            "s": b'"\\u00e9\\/"',
            "x": b'{ "a" : [1 ,-0] }',
            "stop": b"null",
        }

    @given(st.dictionaries(NAMES, VALUES, max_size=4), st.booleans(), st.booleans())
    def test_every_other_member_keeps_its_value(self, members: dict[str, Any], asked: bool, pretty: bool) -> None:
        """Whatever else the body holds, and however it is laid out, means the same to the upstream."""
        members.pop("verify", None)
        whole = members | ({"verify": {"k": 1}} if asked else {})
        read = read_request(json.dumps(whole, indent=1 if pretty else None, ensure_ascii=pretty).encode())
        assert read is not None
        assert json.loads(forwarded_body(read)) == members


class TestCompletion:
    """Reading the upstream's reply."""

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"null",
            b"[]",
            b"<html></html>",
            b"{}",
            b'{"choices": null}',
            b'{"choices": []}',
            b'{"choices": {}}',
            b'{"choices": "text"}',
            b'{"choices": ["text"]}',
            b'{"choices": [{"message": "text"}]}',
            b'{"choices": [{"message": {"content": "cut',
            b'{"choices": [{"message": {"content": "\xff"}}]}',
            b'{"choices": [{"message": {"content": "\\ud83d"}}]}',
            b'{"error": {"message": "no"}}',
            b'data: {"choices": []}\n\n',
            b'{"choices": [{"message": {"content":' + b"[" * 100_000,
        ],
    )
    def test_unusable(self, body: bytes) -> None:
        """What has no usable list of choices is passed on, not verified."""
        assert read_completion(body) is None

    @pytest.mark.parametrize(
        ("content", "text", "parts"),
        [
            ("It opened.", "It opened.", ("It opened.",)),
            ("", "", ("",)),
            (None, "", ()),
            ([], "", ()),
            ([{"type": "text", "text": "It "}, {"type": "text", "text": "opened."}], "It opened.", ("It ", "opened.")),
            ([{"type": "image_url"}, {"type": "text", "text": "서울 🌉"}, {"type": "text"}], "서울 🌉", ("서울 🌉",)),
            ([{"type": "refusal", "refusal": "No."}, "odd", None], "", ()),
            (5, "", ()),
            ({"text": "odd"}, "", ()),
        ],
    )
    def test_content(self, content: object, text: str, parts: tuple[str, ...]) -> None:
        """A choice's text is its content, or its text parts joined without a separator."""
        read = said(content)
        assert (read.text, read.parts) == (text, parts)

    def test_choice_without_message(self) -> None:
        """A choice may lack its message, its content or nearly everything (a filter's chunk, a legacy completion)."""
        read = completion({}, {"message": None}, {"message": {}}, {"text": "legacy", "index": 7}).choices
        assert [one.text for one in read] == ["", "", "", ""]
        assert [one.index for one in read] == [0, 1, 2, 7]
        assert [one.finish_reason for one in read] == [None] * 4

    @pytest.mark.parametrize("index", [None, "0", 1.5])
    def test_index_that_is_none(self, index: object) -> None:
        """Where the index says nothing, the place in the list stands for it."""
        assert completion({"index": 0}, {"index": index}).choices[1].index == 1

    def test_text_part_positions(self) -> None:
        """Each text part is known by its place among all parts."""
        read = said([{"type": "image_url"}, {"type": "text", "text": "a"}, {"type": "text"}])
        assert [read.is_text_part(position) for position in range(3)] == [False, True, False]
        assert not said("plain").is_text_part(0)

    @pytest.mark.parametrize(
        ("span", "within"),
        [((0, 3), True), ((3, 6), True), ((1, 2), True), ((4, 6), True), ((2, 4), False), ((0, 6), False)],
    )
    def test_span_within_a_part(self, span: tuple[int, int], within: bool) -> None:
        """A span can be edited where it lies inside one part."""
        parts = said([{"type": "text", "text": "abc"}, {"type": "text", "text": "def"}])
        assert parts.is_within_part(span) is within
        assert said("abcdef").is_within_part(span)

    @pytest.mark.parametrize(
        ("members", "has"),
        [
            ({}, False),
            ({"logprobs": None}, False),
            ({"logprobs": {"content": []}}, True),
            ({"logprobs": {"content": [{"token": "a", "logprob": -0.1}]}}, True),
        ],
    )
    def test_logprobs(self, members: dict[str, object], has: bool) -> None:
        """A choice with its tokens' probabilities is known."""
        assert choice({"content": "a"}, **members).has_logprobs is has

    def test_unused_members_are_not_decoded(self) -> None:
        """Members that we do not use may hold what our decoder refuses: half a character in a token, a huge number."""
        read = read_completion(
            b'{"x": 1e999, "choices": [{"message": {"content": "a", "tool_calls": [{"x": "\xf0\x9f"}]}, '
            b'"logprobs": {"content": [{"token": "\xf0", "logprob": -1e999}]}}]}'
        )
        assert read is not None
        assert read.choices[0].has("tool_calls")
        assert read.choices[0].has_logprobs

    @given(
        st.sampled_from(["1.0E+2", "-0", "0.10", "1e-7", "123456789012345678901234567890", "1.7976931348623157e308"]),
        st.sampled_from([r'"é\/"', '"é"', '{ "b" : [ ] }', "[1 ,2]", "null", r'"\ud83c\udf09"']),
        st.sampled_from(["", " ", "\n  "]),
    )
    def test_unknown_members_and_number_formats_survive(self, number: str, value: str, blank: str) -> None:
        """Every member that we do not understand keeps the upstream's own bytes, at each level."""
        body = (
            f'{{"n":{blank}{number},{blank}"x_vendor":{value}{blank},"choices":[{{"score":{number},"message":'
            f'{{"content":"a","reasoning_content":{value}{blank}}},"index":0{blank}}}]}}'
        )
        read = read_completion(body.encode())
        assert read is not None
        assert bytes(read.members["n"]) == number.encode()
        assert bytes(read.members["x_vendor"]) == value.encode()
        assert bytes(read.choices[0].members["score"]) == number.encode()
        assert bytes(read.choices[0].message["reasoning_content"]) == value.encode()


class TestSkipReason:
    """What is not verified, and why."""

    @pytest.mark.parametrize(
        ("one", "reason"),
        [
            (said("It opened in 1931."), None),
            (said([{"type": "text", "text": "It opened in 1931."}]), None),
            (said(""), "empty"),
            (said("  \n"), "empty"),
            (said(None), "empty"),
            (choice(None), "empty"),
            (choice({"content": "It opened"}, finish_reason="content_filter"), "content_filter"),
            (choice({}, finish_reason="content_filter"), "content_filter"),
            (choice({"content": None, "tool_calls": [{"id": "1"}]}, finish_reason="tool_calls"), "tool_calls"),
            (choice({"content": "I look it up.", "tool_calls": [{"id": "1"}]}), "tool_calls"),
            (choice({"content": None, "function_call": {"name": "f"}}), "tool_calls"),
            (choice({"content": "It opened.", "tool_calls": None, "function_call": None}), None),
            (choice({"content": "It opened.", "tool_calls": []}), None),
            (choice({"content": None, "refusal": "I can't help."}), "refusal"),
            (choice({"content": "It opened.", "refusal": None}), None),
            (choice({"content": "It opened.", "refusal": ""}), None),
            (choice({"content": "It opened", "reasoning_content": "1931?"}, finish_reason="length"), None),
            (said('{"year": 1931}'), "json_response"),
            (said(' [{"year": 1931}]\n'), "json_response"),
            (said('{"year": 1931'), None),
            (said('{"year": 1931} as JSON'), None),
            (said("1931"), None),
            (said('"It opened in 1931."'), None),
            (said("[1] says it opened in 1931."), None),
            (said("{" * 100_000), None),
        ],
    )
    def test_by_choice(self, one: Choice, reason: str | None) -> None:
        """Tool calls, refusals, filtered, empty and JSON answers have nothing to verify."""
        assert skip_reason(request(), one) == reason

    def test_json_asked_for(self) -> None:
        """Where JSON was asked for, the answer is left alone whatever it looks like."""
        asked = request(response_format={"type": "json_object"})
        assert skip_reason(asked, said("It opened in 1931.")) == "json_response"
        assert skip_reason(asked, said("")) == "empty"

    def test_no_user_text(self) -> None:
        """Without a user's text there is no question to recall facts for."""
        asked = turns({"role": "system", "content": "Say something."}, {"role": "user", "content": [{"type": "file"}]})
        assert skip_reason(asked, said("It opened in 1931.")) == "no_user_text"
        assert skip_reason(asked, said('{"year": 1931}')) == "json_response"
