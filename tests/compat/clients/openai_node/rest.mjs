// The rest of the API, which passes through: models, embeddings, uploads, the Responses API.

import { toFile } from "openai";

import { client, collect, modelOf, QUESTION } from "./session.mjs";

/** List the models. */
export async function models() {
  return (await collect(client.models.list())).map((model) => model.id);
}

/** Embed a text; the SDK asks for base64 and unpacks it. */
export async function embeddings() {
  const reply = await client.embeddings.create({ model: modelOf("embeddings"), input: "Verdane Bridge" });
  return Array.from(reply.data[0].embedding);
}

/** Upload a file of a mebibyte. */
export async function upload() {
  const bytes = Uint8Array.from({ length: 1_048_576 }, (_, position) => position % 256);
  return (await client.files.create({ file: await toFile(bytes, "facts.bin"), purpose: "assistants" })).id;
}

/** Ask through the Responses API. */
export async function responses() {
  return (await client.responses.create({ model: modelOf("responses"), input: QUESTION })).output_text;
}

/** Ask for a stream through the Responses API. */
export async function responses_stream() {
  const asked = { model: modelOf("responses_stream"), input: QUESTION, stream: true };
  const events = await collect(await client.responses.create(asked));
  return events.map((event) => [event.type, event.type === "response.output_text.delta" ? event.delta : null]);
}
