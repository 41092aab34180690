import { expect, test } from "vitest";
import { threadShortageLog } from "../../../backend/entry/serve.ts";

test("refused threads are logged once", () => {
  const lines: unknown[] = [];
  const found = [null, { wanted: 8, started: 3 }, { wanted: 4, started: 2 }];
  const log = threadShortageLog({ warn: (fields: unknown) => void lines.push(fields) }, () => found.shift() ?? null);
  for (let run = 0; run < 5; run += 1) log();
  expect(lines).toEqual([{ wanted: 8, started: 3 }]);
});
