import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { documentOf } from "../support/app/openapi.ts";
import { sessionTest } from "../support/session/session-test.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LINTER = join(ROOT, "node_modules", "@redocly", "cli", "bin", "cli.js");
const LINT_MS = 120_000;

const made = sessionTest();

/** What redocly says about a document, and its exit code. Nothing leaves the machine. */
async function lint(file: string): Promise<{ code: number | null; totals: { errors: number; warnings: number } }> {
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const child = spawn(process.execPath, [LINTER, "lint", file, "--extends=recommended", "--format=json"], { env });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const { totals } = JSON.parse(text.slice(text.indexOf("{"))) as { totals: { errors: number; warnings: number } };
  return { code, totals };
}

test(
  "redocly's recommended rules hold, without a warning",
  async () => {
    const document = await documentOf(made);
    const good = made.file("openapi.json", JSON.stringify(document));
    expect(await lint(good)).toMatchObject({ code: 0, totals: { errors: 0, warnings: 0 } });
    const bad = made.file("bad.json", JSON.stringify({ ...document, servers: [] }));
    expect(await lint(bad)).toMatchObject({ code: 1, totals: { errors: 1 } });
  },
  LINT_MS,
);
