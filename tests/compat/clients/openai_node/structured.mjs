// Answers that are no prose: tool calls and JSON for a schema, whole and streamed.

import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";

import { ASK, client, collect, modelOf } from "./session.mjs";

const TOOLS = [
  {
    type: "function",
    function: { name: "look_up", parameters: { type: "object", properties: { year: { type: "integer" } } } },
  },
];
// What the model is to fill in.
const OPENING = zodResponseFormat(z.object({ bridge: z.string(), year: z.number() }), "Opening");

/** Be asked to call two tools, send what they say, and get an answer. */
export async function tools() {
  const model = modelOf("tools");
  const asked = await client.chat.completions.create({ model, messages: ASK, tools: TOOLS });
  const message = asked.choices[0].message;
  const results = message.tool_calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "Found." }));
  const messages = [...ASK, message, ...results];
  return { asked, answered: await client.chat.completions.create({ model, messages, tools: TOOLS }) };
}

/** Get the same calls in fragments, and let the helper put them together. */
export async function stream_tools() {
  const asked = { model: modelOf("stream_tools"), messages: ASK, tools: TOOLS };
  const events = client.chat.completions.stream(asked);
  const done = [];
  events.on("tool_calls.function.arguments.done", (call) => done.push(call.arguments));
  return { chunks: await collect(events), done, final: await events.finalChatCompletion() };
}

/** Get an object of a type. */
export async function parse() {
  const asked = { model: modelOf("parse"), messages: ASK, response_format: OPENING };
  const completion = await client.chat.completions.parse(asked);
  const { parsed, ...message } = completion.choices[0].message;
  const choices = [{ ...completion.choices[0], message }];
  return { parsed, report: completion.verification, completion: { ...completion, choices } };
}

/** Get an object of a type from a stream. */
export async function stream_parse() {
  const asked = { model: modelOf("stream_parse"), messages: ASK, response_format: OPENING };
  const events = client.chat.completions.stream(asked);
  const chunks = await collect(events);
  return { chunks, parsed: (await events.finalChatCompletion()).choices[0].message.parsed };
}
