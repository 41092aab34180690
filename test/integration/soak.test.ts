import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { soak } from "../soak/run.ts";
import { startProcess } from "../support/process/backend-process.ts";

test("a few seconds of four users side by side: every answer fits what their clouds hold", async () => {
  const folder = mkdtempSync(join(tmpdir(), "soak-"));
  const service = await startProcess(join(folder, "data"));
  onTestFinished(async () => {
    await service.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  const length = { for_ms: 5000, least_steps: 21, pause_ms: 0, size: 0.1 };
  const found = await soak({ url: service.url, folder, users: 4, seed: 1, ...length });
  expect(found.wrong).toEqual([]);
  expect(found.steps).toBeGreaterThan(20);
  expect(readdirSync(join(folder, "data", "sessions")).filter((name) => !name.startsWith("."))).toEqual([]);
}, 120_000);
