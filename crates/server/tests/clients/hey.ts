// Drives a server with the client that hey-api's openapi-ts makes.
import { client } from "./client/client.gen.js";
import { bulkControlRuns, cancelRun, forkRun, listRunEvents, listRuns, retryRun, sendSignal, startRun, waitForRun } from "./client/sdk.gen.js";

declare const process: { env: Record<string, string | undefined> };

client.setConfig({
  baseUrl: process.env["RIVAL_URL"] ?? "",
  auth: () => process.env["RIVAL_TOKEN"],
});

const same = (actual: unknown, expected: unknown) => {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) {
    throw new Error(`${JSON.stringify(actual)} is not ${JSON.stringify(expected)}`);
  }
};

const start = async (name: string, input: unknown): Promise<string> => {
  const { data } = await startRun({ path: { name }, body: { input }, throwOnError: true });
  return data.runId;
};

const wait = async (id: string) => (await waitForRun({ path: { id }, query: { timeout: "1m" }, throwOnError: true })).data;

const paid = await start("order", { customer: "Grace", amount: 5 });
same((await wait(paid)).output, "paid");

const refused = await startRun({ path: { name: "order" }, body: { input: { amount: 0 } } });
same(refused.error?.code, "invalid_input");

let [count, cursor]: [number, string | undefined] = [0, undefined];
do {
  const query: { status: ("failed" | "cancelled")[]; limit: number; cursor?: string } = { status: ["failed", "cancelled"], limit: 2 };
  if (cursor !== undefined) query.cursor = cursor;
  const { data } = await listRuns({ query, throwOnError: true });
  count += data.items.length;
  cursor = data.cursor ?? undefined;
} while (cursor !== undefined);
same(count, 5);

const { data: history } = await listRunEvents({ path: { id: paid }, throwOnError: true });
const [first] = history.items;
if (first?.type !== "runStarted") throw new Error("every history begins with its start");
same(first.data.workflow, "order");

const asked = await start("approval", null);
await sendSignal({ path: { id: asked, name: "approval" }, body: { payload: { approved: true } }, throwOnError: true });
same((await wait(asked)).status, "completed");
const nap = await start("nap", null);
await cancelRun({ path: { id: nap }, body: { reason: "enough" }, throwOnError: true });
same((await wait(nap)).reason, "enough");
const broken = await start("order", { customer: "Grace", amount: 5000 });
same((await wait(broken)).error?.code, "too_much");
const again = await retryRun({ path: { id: broken }, throwOnError: true });
same((await wait(again.data.runId)).status, "failed");
const mended = await forkRun({ path: { id: broken }, body: { from: "charge", input: { customer: "Grace", amount: 7 } }, throwOnError: true });
same((await wait(mended.data.runId)).output, "paid");
const naps = [await start("nap", null), await start("nap", null)];
const bulk = await bulkControlRuns({ body: { action: "cancel", runIds: naps }, throwOnError: true });
same(bulk.data.results.length, 2);
