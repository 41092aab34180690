import { readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { expect, test } from "vitest";
import { cloudStats } from "../../../backend/native/cloud/cloud.ts";
import { positions } from "../../accuracy/native.ts";

/** Nice values of the threads of this process. */
const niceValues = () =>
  readdirSync("/proc/self/task").map((id) => {
    const stat = readFileSync(`/proc/self/task/${id}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
  });

test.skipIf(process.platform !== "linux")("compute threads have a lower priority than the event loop", async () => {
  const usual = getPriority();
  await cloudStats(positions(new Float64Array(3_000_000)), null).promise;
  const values = niceValues(); // a thread stays a second after its job
  expect(values).toContain(Math.min(19, usual + 5));
  expect(readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ")[16]).toBe(String(usual));
});
