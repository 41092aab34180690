import { expect, test } from "vitest";
import { WITH_COLUMNS } from "../../../../backend/cli/analyze/cloud-copy.ts";
import { formatTraits } from "../../../../backend/services/files/export-format.ts";
import { EXPORT_FORMATS } from "../../../../shared/contract/pointcloud.ts";

test("a copy asks for its columns in every format that writes only those that are asked for", () => {
  expect([...WITH_COLUMNS].sort()).toEqual(
    EXPORT_FORMATS.filter((format) => formatTraits(format).scalars === "asked").sort(),
  );
});
