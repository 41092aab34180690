import { expect, test } from "vitest";
import { movedFormat } from "../../../../backend/cli/register/moved-file.ts";
import type { Input } from "../../../../backend/cli/run/inputs.ts";
import { EXPORT_FORMATS } from "../../../../shared/contract/pointcloud.ts";

const cloud = (name: string) => ({ name, kind: "cloud" }) as Input;

test("a moved cloud keeps its format if clouds are written in it", () => {
  for (const format of EXPORT_FORMATS) expect(movedFormat(cloud(`a.${format}`), undefined)).toBe(format);
  expect(movedFormat(cloud("a.tsv"), undefined)).toBe("csv");
});
