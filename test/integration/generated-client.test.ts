import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import { documentOf } from "../support/app/openapi.ts";
import { sessionTest } from "../support/session/session-test.ts";

/* A client that a generator makes of the OpenAPI document compiles strictly and drives a workflow of each domain. */

const made = sessionTest({ listening: true });
const root = fileURLToPath(new URL("../..", import.meta.url));
const sources = join(root, "test", "support", "generated-client");
let folder: string;

beforeAll(async () => {
  mkdirSync(join(root, "build"), { recursive: true });
  folder = mkdtempSync(join(root, "build", "generated-client-")); // in the project, for its node_modules
  for (const name of readdirSync(sources)) copyFileSync(join(sources, name), join(folder, name));
  const schema = await openapiTS((await documentOf(made)) as never, { defaultNonNullable: false });
  writeFileSync(join(folder, "schema.ts"), astToString(schema));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the generated client compiles strictly with a workflow of each domain", () => {
  const program = ts.createProgram([join(folder, "workflows.ts")], {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
    types: ["node"],
  });
  const found = ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const at =
      file && start !== undefined ? `${file.fileName}:${file.getLineAndCharacterOfPosition(start).line + 1}` : "";
    return `${at} ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
  });
  expect(found).toEqual([]);
});

test("it drives a workflow of each domain", async () => {
  const { driveAll } = (await import(pathToFileURL(join(folder, "workflows.ts")).href)) as {
    driveAll(baseUrl: string, folder: string): Promise<string[]>;
  };
  expect(await driveAll(made.base, made.folder)).toHaveLength(10);
});
