// The official Node SDK, as an application uses it.
//
// In: where the proxy listens (command line). Out: what the SDK made of each scene, as one line of JSON.

import * as chat from "./chat.mjs";
import * as failures from "./failures.mjs";
import * as rest from "./rest.mjs";
import { reportOutcomes } from "./session.mjs";
import * as streams from "./streams.mjs";
import * as structured from "./structured.mjs";

await reportOutcomes([chat, streams, structured, failures, rest].flatMap((module) => Object.values(module)));
