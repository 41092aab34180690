import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { detectTextLayout } from "../../../../../backend/services/files/text/layout.ts";
import { DATA } from "../../../../support/scans/data-folder.ts";

const present = existsSync(join(DATA, "text_tables"));
if (!present) console.warn(`real text files are absent from ${DATA}: set APP_TEST_DATA`);

const XYZ = ["x", "y", "z"];
const NO_Z = "no z column";

/** What each real file is: delimiter, lines before the data, roles; or why it is no cloud. */
const files: Record<string, [string, number, string[]] | string> = {
  "text_tables/pdal_badheader.txt": `${NO_Z}: the header names X, Y, X`,
  "text_tables/pdal_crlf_test.txt": ["comma", 1, [...XYZ, "intensity"]],
  "text_tables/pdal_missingheader.txt": ["whitespace", 0, [...XYZ, "intensity"]],
  "text_tables/pdal_quoted.txt": ["comma", 1, XYZ],
  "text_tables/pdal_text.txt": "no data rows",
  "text_tables/points_agisoft.xyz": ["whitespace", 0, [...XYZ, "r255", "g255", "b255"]],
  "text_tables/treecompr_inventory.csv": `${NO_Z}: the header names TreeID, X, Y, DBH`,
  "text_tables/treecompr_inventory1.csv": `${NO_Z}: the header names TreeID, X, Y, DiaBrHgt`,
  "text_tables/treecompr_smallinv1.csv": NO_Z,
  "text_tables/treecompr_smallinv2.csv": NO_Z,
  "text_tables/treecompr_targettrees_inventory.csv": `${NO_Z}: the header names ID_target, X, Y`,
  "text_tables/treecompr_tinytree1.csv": ["comma", 1, XYZ],
  "text_tables/treecompr_tinytree2.csv": ["semicolon", 1, XYZ],
  "text_tables/treecompr_tinytree4.txt": "no x, y and z columns: the header names text, a, b, c",
  "ptx_pts/bunny_8.pts": ["whitespace", 1, XYZ],
  "ptx_pts/test.pts": ["whitespace", 1, [...XYZ, "intensity", "r255", "g255", "b255"]],
  "ptx_pts/no-color.ptx": "PTX scan",
  "trees_tls/itsme_buttressed1.txt": ["whitespace", 0, XYZ],
  "trees_tls/itsme_dtm.txt": ["comma", 0, XYZ],
  "trees_tls/itsme_tree1.txt": ["whitespace", 0, XYZ],
  "trees_tls/itsme_tree2.txt": ["whitespace", 0, XYZ],
  "leaf_wood/lewos_tropical.xyz": ["whitespace", 1, [...XYZ, "extra"]],
  "leaf_wood/weiser_oak.xyz": ["whitespace", 1, [...XYZ, "extra"]],
  "dem/landlab_hugo_site.asc": "ESRI ASCII grid",
};

describe.skipIf(!present)("real files", () => {
  test.each(Object.entries(files))("%s", (name, expected) => {
    const lines = readFileSync(join(DATA, name), "utf8").split(/\r?\n/).slice(0, 200);
    if (typeof expected === "string") {
      expect(() => detectTextLayout(lines)).toThrow(expected);
      return;
    }
    const [delimiter, header_lines, roles] = expected;
    const layout = detectTextLayout(lines);
    expect(layout).toMatchObject({ delimiter, header_lines, warning: null, column_count: roles.length });
    expect(layout.columns.map(({ role }) => role)).toEqual(roles);
    expect(layout.decimal_comma).toBe(name.endsWith("tinytree2.csv"));
  });
});
