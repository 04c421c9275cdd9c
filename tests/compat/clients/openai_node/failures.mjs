// Refusals: which of the SDK's errors they become, and what is tried again.

import { APIError } from "openai";

import { ASK, client, modelOf, strictClient } from "./session.mjs";

/** Be refused once with a time to wait, and let the SDK try again. */
export async function retried() {
  return { completion: await client.chat.completions.create({ model: modelOf("retried"), messages: ASK }) };
}

/** Be refused, and try only once. */
export async function refused() {
  const asked = { model: modelOf("refused"), messages: ASK };
  return catchError(() => client.chat.completions.create(asked, { maxRetries: 0 }));
}

/** Ask for a model that is gone. */
export async function unknown_model() {
  return catchError(() => client.chat.completions.create({ model: modelOf("unknown_model"), messages: ASK }));
}

/** Send a control that the proxy refuses. */
export async function bad_control() {
  const asked = { model: modelOf("bad_control"), messages: ASK };
  return catchError(() => client.chat.completions.create(asked, { headers: { "X-Verify-K": "much" } }));
}

/** Be refused a stream: the call itself fails, before any chunk. */
export async function stream_refused() {
  const asked = { model: modelOf("stream_refused"), messages: ASK, stream: true };
  return catchError(() => client.chat.completions.create(asked, { maxRetries: 0 }));
}

/** Lose the upstream in the middle of a stream: reading fails, and nothing unchecked has come. */
export async function stream_cut() {
  const asked = { model: modelOf("stream_cut"), messages: ASK, stream: true };
  const stream = await client.chat.completions.create(asked);
  const chunks = [];
  const error = await catchError(async () => {
    for await (const chunk of stream) chunks.push(chunk);
  });
  return { error, chunks };
}

/** Ask a proxy whose operator wants no unverified answers, while verification fails. */
export async function verifier_failed() {
  const asked = { model: modelOf("verifier_failed"), messages: ASK };
  return catchError(() => strictClient.chat.completions.create(asked));
}

/** Return what the SDK throws. */
async function catchError(call) {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    const { code, param, status } = error;
    const kind = error.constructor.name;
    return status === undefined ? { kind, code } : { kind, status, code, param, headers: headersOf(error) };
  }
  return null;
}

const headersOf = (error) => Object.fromEntries(error.headers);
