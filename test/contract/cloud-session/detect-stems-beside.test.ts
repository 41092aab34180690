import { expect, test } from "vitest";
import { DetectStemsResponse } from "../../../shared/contract/cloud-session/detect-stems.ts";
import { STEM_COLUMNS, stemRows } from "../../support/scans/stems.ts";
import { answered, cloud } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const detect = async (stems: Parameters<typeof stemRows>[0]) => {
  const { session_id } = await cloud(made, [STEM_COLUMNS, ...stemRows(stems)]);
  return answered(made, DetectStemsResponse, `/api/cloud/session/${session_id}/detect_stems`, {});
};
const APART = { x: 7, y: 7, radius: 0.2 };

test("stems that stand beside each other are told, since the rule of 0.3 m leaves them out", async () => {
  const clump = Array.from({ length: 9 }, (_, k) => ({
    x: 3 + 0.2 * (k % 3),
    y: 3 + 0.2 * Math.floor(k / 3),
    radius: 0.035,
  }));
  const { seeds, rejected, warnings } = await detect([APART, ...clump]);
  expect(seeds.length + rejected.merged).toBe(10);
  expect(seeds.length).toBeLessThan(7);
  expect(warnings).toContainEqual(
    expect.stringMatching(
      new RegExp(`^${rejected.merged} stems beside the ${seeds.length} that were found stand closer than 0\\.3 m`),
    ),
  );
  const alone = await detect([APART, { x: 3, y: 3, radius: 0.035 }]);
  expect(alone.warnings.join()).not.toContain("beside");
});
