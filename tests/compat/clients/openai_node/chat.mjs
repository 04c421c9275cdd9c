// Whole completions: how the report is read, how controls are sent, what a second turn sends back.

import { ASK, client, modelOf } from "./session.mjs";

/** Ask as README shows, and read the report where README says. */
export async function plain() {
  const completion = await client.chat.completions.create({ model: modelOf("plain"), messages: ASK });
  return { completion, report: completion.verification, request_id: completion._request_id };
}

/** Send controls both ways at once, and a header that is none of the proxy's business. */
export async function controls() {
  const completion = await client.chat.completions.create(
    {
      model: modelOf("controls"),
      messages: ASK,
      verify: { mode: "detect", detail: "full", claims: "llm" },
      x_vendor: { a: [1] },
    },
    { headers: { "X-Verify-Claims": "local", "X-Vendor-Trace": "t-1" } },
  );
  return { completion };
}

/** Switch verification off in the body. */
export async function switched_off() {
  const asked = { model: modelOf("switched_off"), messages: ASK, verify: false };
  return { completion: await client.chat.completions.create(asked) };
}

/** Look at the headers as well as at the completion. */
export async function raw_response() {
  const asked = { model: modelOf("raw_response"), messages: ASK };
  const { data, response } = await client.chat.completions.create(asked).withResponse();
  return { status: response.status, headers: Object.fromEntries(response.headers), completion: data };
}

/** Send a corrected answer back as history, the way an application does: the message object itself. */
export async function history() {
  const model = modelOf("history");
  const first = await client.chat.completions.create({ model, messages: ASK });
  const replayed = first.choices[0].message;
  const messages = [...ASK, replayed, { role: "user", content: "Are you sure?" }];
  return { replayed, completion: await client.chat.completions.create({ model, messages }) };
}
