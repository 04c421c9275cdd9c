// The SDK's clients as the scenes use them, and the conversation that they begin with.

import OpenAI from "openai";

const [proxyUrl, strictUrl, prefix] = process.argv.slice(2);

export const QUESTION = "When did Verdane Bridge open, and how long is it?";
export const ASK = [{ role: "user", content: QUESTION }];

const who = { apiKey: "sk-compat", organization: "org-compat", project: "proj-compat" };
export const client = new OpenAI({ ...who, baseURL: proxyUrl });
// One that fails where verification does, and keeps streams alive at short intervals.
export const strictClient = new OpenAI({ ...who, baseURL: strictUrl });

/** Return the model name under which a scene's script is played. */
export const modelOf = (scene) => prefix + scene;

/** Return all that an async iterable gives. */
export async function collect(items) {
  const all = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Print one JSON object with the outcome of each scene; one that throws has its stack and takes no other down. */
export async function reportOutcomes(scenes) {
  const outcomes = {};
  for (const scene of scenes) {
    try {
      outcomes[scene.name] = (await scene()) ?? null;
    } catch (error) {
      outcomes[scene.name] = { raised: error.stack };
    }
  }
  process.stdout.write(`${JSON.stringify(outcomes)}\n`);
}
