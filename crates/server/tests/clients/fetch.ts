// Drives a server with the client that openapi-typescript and openapi-fetch make.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

declare const process: { env: Record<string, string | undefined> };

type Schemas = components["schemas"];

const client = createClient<paths>({
  baseUrl: process.env["RIVAL_URL"] ?? "",
  headers: { Authorization: `Bearer ${process.env["RIVAL_TOKEN"]}` },
});

const must = <T>(answer: { data?: T; error?: unknown; response: Response }): T => {
  if (answer.data === undefined) throw new Error(`${answer.response.status}: ${JSON.stringify(answer.error)}`);
  return answer.data;
};

const same = (actual: unknown, expected: unknown) => {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) {
    throw new Error(`${JSON.stringify(actual)} is not ${JSON.stringify(expected)}`);
  }
};

const start = async (name: string, input: unknown): Promise<Schemas["AcceptedRun"]> => {
  const started = must(await client.POST("/api/workflows/{name}/runs", { params: { path: { name } }, body: { input, tags: ["driven"] } }));
  if (!("status" in started) || "results" in started) throw new Error("a start does not wait");
  return started;
};

const wait = async (id: string) =>
  must(await client.GET("/api/runs/{id}/wait", { params: { path: { id }, query: { timeout: "1m" } } }));

// Starting, waiting, and the outcome with the start.
const paid = await start("order", { customer: "Grace", amount: 5 });
same((await wait(paid.runId)).output, "paid");
const outcome = must(await client.POST("/api/workflows/{name}/runs", {
  params: { path: { name: "order" }, query: { wait: "1m" } },
  body: { input: { customer: "Grace", amount: 6 } },
}));
if (!("results" in outcome)) throw new Error("it has not waited");
same(outcome.results["charge"]?.status, "completed");

// A refusal, with its code and what is wrong.
const refused = await client.POST("/api/workflows/{name}/runs", { params: { path: { name: "order" } }, body: { input: { amount: 0 } } });
same(refused.response.status, 400);
same(refused.error?.code, "invalid_input");

// Lists: filters of several statuses, and pages.
const failed: Schemas["RunSummary"][] = [];
let cursor: string | undefined;
do {
  const query = { status: ["failed", "cancelled"] as Schemas["RunStatus"][], limit: 2, ...(cursor === undefined ? {} : { cursor }) };
  const page = must(await client.GET("/api/runs", { params: { query } }));
  failed.push(...page.items);
  cursor = page.cursor ?? undefined;
} while (cursor !== undefined);
same(new Set(failed.map((run) => run.status)).size, 2);
same(failed.length, 5);

// The history, by type.
const events = must(await client.GET("/api/runs/{id}/events", { params: { path: { id: paid.runId } } })).items;
const [first] = events;
if (first?.type !== "runStarted") throw new Error("every history begins with its start");
same(first.data.workflow, "order");
same(events.filter((event) => event.type === "callSucceeded").map((event) => event.data.result ?? null), [5, "paid"]);

// Signals, requests to stop, and what comes after a failure.
const asked = await start("approval", null);
must(await client.POST("/api/runs/{id}/signals/{name}", { params: { path: { id: asked.runId, name: "approval" } }, body: { payload: { approved: true } } }));
same((await wait(asked.runId)).status, "completed");
const nap = await start("nap", null);
must(await client.POST("/api/runs/{id}/cancel", { params: { path: { id: nap.runId } }, body: { reason: "enough" } }));
same((await wait(nap.runId)).reason, "enough");
const broken = await start("order", { customer: "Grace", amount: 5000 });
same((await wait(broken.runId)).error?.code, "too_much");
const again = must(await client.POST("/api/runs/{id}/retry", { params: { path: { id: broken.runId } } }));
same((await wait(again.runId)).status, "failed");
const mended = must(await client.POST("/api/runs/{id}/fork", {
  params: { path: { id: broken.runId } },
  body: { from: "charge", input: { customer: "Grace", amount: 7 } },
}));
same((await wait(mended.runId)).output, "paid");

// One request to many.
const naps = [await start("nap", null), await start("nap", null)].map((run) => run.runId);
const bulk = must(await client.POST("/api/runs/bulk", { body: { action: "cancel", runIds: naps } }));
same(bulk.results.map((result) => result.error ?? null), [null, null]);
