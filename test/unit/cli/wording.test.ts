import { expect, test } from "vitest";
import { commandLineWords, reportedWarnings } from "../../../backend/cli/wording.ts";

test("messages name options of the command line, not fields of the API", () => {
  expect(
    commandLineWords(
      "6.2 % of the points are labelled noise; scanner noise is 0.1 to 3 %. Try k before you remove them.",
    ),
  ).toBe(
    "6.2 % of the points are labelled noise; scanner noise is 0.1 to 3 %. None was removed; --no-denoise leaves the labels out.",
  );
  expect(commandLineWords("Import with source_units to convert them.")).toBe("Use --units to convert them.");
  expect(commandLineWords("cell_size 0.001 gives 4e9 cells")).toBe("--cell 0.001 gives 4e9 cells");
  expect(commandLineWords("to_string of return_number")).toBe("to_string of return_number");
});

test("warnings come once; those on things a report does not contain are left out", () => {
  const mesh = "The 32-bit vertices of the mesh keep 0.03 m.";
  expect(reportedWarnings(["a", mesh, "a", "world_shift is large"])).toEqual(["a", "--shift is large"]);
});
