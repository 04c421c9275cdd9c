// Streams: raw chunks, which carry the report, and the SDK's helper, which puts a completion together from them.

import { ASK, client, collect, modelOf, strictClient } from "./session.mjs";

/** Read a stream chunk by chunk. */
export async function stream() {
  const asked = { model: modelOf("stream"), messages: ASK, stream: true };
  const chunks = await collect(await client.chat.completions.create(asked));
  return { chunks, reports: chunks.map((chunk) => chunk.verification ?? null) };
}

/** Ask for the usage chunk. */
export async function stream_async() {
  const asked = {
    model: modelOf("stream_async"),
    messages: ASK,
    stream: true,
    stream_options: { include_usage: true },
  };
  return { chunks: await collect(await client.chat.completions.create(asked)) };
}

/** Read two choices through the helper, and the chunks that it was given. */
export async function stream_choices() {
  const events = client.chat.completions.stream({ model: modelOf("stream_choices"), messages: ASK, n: 2 });
  return { chunks: await collect(events), final: await events.finalChatCompletion() };
}

/** Read a stream through the helper: its events, and the completion at its end. */
export async function stream_helper() {
  const asked = { model: modelOf("stream_helper"), messages: ASK, stream_options: { include_usage: true } };
  const events = client.chat.completions.stream(asked);
  const done = [];
  events.on("content.done", ({ content }) => done.push(content));
  return { chunks: await collect(events), done, final: await events.finalChatCompletion() };
}

/** Ask for the draft live. */
export async function stream_annotated() {
  const asked = { model: modelOf("stream_annotated"), messages: ASK, stream: true };
  const headers = { "X-Verify-Stream": "annotate" };
  return { chunks: await collect(await client.chat.completions.create(asked, { headers })) };
}

/** Look at a stream's headers first, then read it. */
export async function stream_raw_response() {
  const asked = { model: modelOf("stream_raw_response"), messages: ASK, stream: true };
  const { data, response } = await client.chat.completions.create(asked).withResponse();
  return { headers: Object.fromEntries(response.headers), chunks: await collect(data) };
}

/** Read a stream with comments in it. */
export async function stream_kept_alive() {
  const asked = { model: modelOf("stream_kept_alive"), messages: ASK, stream: true };
  return { chunks: await collect(await strictClient.chat.completions.create(asked)) };
}
