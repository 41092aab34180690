// A field that is sent with its documented default does what leaving it out does.
import { appendFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isSent } from "../../shared/contract/idle-keys.ts";
import { appOfTest, type TestApp } from "../support/app/app.ts";
import { documentOf, operationsOf } from "../support/app/openapi.ts";
import { answerTo, valueAt } from "../support/requests/answers.ts";
import { placesOf, withValue } from "../support/requests/field-values.ts";
import { variantsOf } from "../support/requests/request-variants.ts";
import { schemaAt } from "../support/requests/second-values.ts";
import { stageOf } from "../support/requests/valid-requests.ts";

/** A part of a path: the endpoints that are looked at; "" = all of them, which takes some minutes. */
const ONLY = process.env.APP_TEST_FIELDS_OF ?? "/api/segment";
const REPORT = process.env.APP_TEST_FIELDS_REPORT;

async function differences(made: TestApp, only: string): Promise<{ differ: string[]; count: number }> {
  const document = await documentOf(made);
  const { session, requests } = await stageOf(made);
  const differ = new Set<string>();
  let count = 0;
  for (const { path, op } of operationsOf(document)) {
    const schema = op.requestBody?.content["application/json"]?.schema;
    const base = requests[path];
    if (!schema || !base || !path.includes(only)) continue;
    for (const [variant, request] of Object.entries(variantsOf(path, base, session))) {
      const asked = path.includes("/plant/") ? { random_seed: 1, ...request } : request;
      const plain = await answerTo(made, path, asked, session);
      const again = await answerTo(made, path, asked, session);
      if (!plain.ok || variant === "e57") continue; // its identifiers are new each time
      if (again.text !== plain.text) differ.add(`${path} ${variant}: another answer each time`);
      for (const place of placesOf(schema, document)) {
        const value = schemaAt(schema, place, document)?.default;
        if (value === undefined || isSent(valueAt(asked, place))) continue;
        if (place.length > 1 && !isSent(valueAt(asked, place.slice(0, -1)))) continue;
        count += 1;
        const sent = await answerTo(made, path, withValue(asked, place, value) as object, session);
        if (sent.text === plain.text) continue;
        const name = `${path} ${variant} ${place.join(".")} ${JSON.stringify(value)}`;
        differ.add(name);
        if (REPORT) appendFileSync(REPORT, `${name}\n${plain.text.slice(0, 1500)}\n${sent.text.slice(0, 1500)}\n\n`);
      }
    }
  }
  return { differ: [...differ], count };
}

test("documented defaults", { timeout: 7_200_000 }, async () => {
  const { differ, count } = await differences(await appOfTest(), ONLY);
  expect(count).toBeGreaterThan(20);
  expect(differ).toEqual([]);
});
