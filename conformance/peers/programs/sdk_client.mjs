// The SDK's own client at a server of the older revision: node sdk_client.mjs URL; prints what it saw, as JSON.
// Run in the folder of the installed packages, where the import is looked for.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.cwd()}/`);
const load = (path) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${path}`)));
const { Client } = await load("client/index.js");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");
const types = await load("types.js");

const seen = { asked: [], progress: 0, updates: 0 };
const client = new Client(
  { name: "peers", version: "1.0.0" },
  { capabilities: { sampling: {}, elicitation: { form: {} }, roots: {} } },
);
client.setRequestHandler(types.CreateMessageRequestSchema, (request) => {
  seen.asked.push(["sampling", request.params.maxTokens]);
  return { role: "assistant", model: "none", content: { type: "text", text: "sampled here" } };
});
client.setRequestHandler(types.ElicitRequestSchema, () => {
  seen.asked.push(["elicitation"]);
  return { action: "decline" };
});
client.setRequestHandler(types.ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///peers", name: "peers" }] }));
let heard;
const update = new Promise((resolve) => (heard = resolve));
client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, heard);

const transport = new StreamableHTTPClientTransport(new URL(process.argv[2]));
await client.connect(transport);
const call = (name, args = {}, options = {}) =>
  client.callTool({ name, arguments: args }, undefined, options).catch((error) => ({ error: error.code }));
const uri = "demo://resource/dynamic/text/1";

seen.server = client.getServerVersion();
seen.echo = await call("echo", { message: "grüße 1.0" });
seen.sum = await call("get-sum", { a: 1.5, b: 2 });
seen.image = await call("get-tiny-image");
seen.tools = (await client.listTools()).tools.map(({ _meta, ...tool }) => tool);
seen.prompts = (await client.listPrompts()).prompts;
seen.resources = (await client.listResources()).resources;
seen.read = (await client.readResource({ uri })).contents.map(({ mimeType, uri: of }) => ({ mimeType, of }));
seen.long = await call("trigger-long-running-operation", { duration: 1, steps: 4 }, { onprogress: () => seen.progress++ });
seen.sampling = await call("trigger-sampling-request", { prompt: "hello", maxTokens: 7 });
seen.elicitation = await call("trigger-elicitation-request");
// What the server says outside of answers comes in the session's own stream.
await client.subscribeResource({ uri });
await call("toggle-subscriber-updates");
seen.update = await Promise.race([update.then((said) => said.params.uri), new Promise((done) => setTimeout(done, 20000, "none"))]);
await transport.terminateSession();
await client.close();
console.log(JSON.stringify(seen));
process.exit(0);
