import { describe, expect, test } from "vitest";
import { renderPictures } from "../../../../backend/cli/drawing/render.ts";
import { escapeHtml, html } from "../../../../backend/cli/report/html.ts";
import { reportHtml } from "../../../../backend/cli/report/report.ts";
import { scansCsv } from "../../../../backend/cli/report/scan-table.ts";
import { groundDensity, summarize } from "../../../../backend/cli/report/summary.ts";
import { smallTail } from "../../../support/cli/analyze-fake.ts";

const HOSTILE = `"><script>alert('x')</script>&amp;\u202e`;

const sample = {
  point_count: 4,
  total_count: 40,
  position: Float64Array.of(0, 0, 0, 10, 0, 1, 0, 10, 2, 10, 10, 3),
  rgb: undefined,
  intensity: undefined,
};
const file = { path: "/data/a.las", name: "a.las", bytes: 1000 };

const SCENE = { kind: "plot", asked: false, reason: "20 m wide" } as const;
type Look = Parameters<typeof summarize>[3];

async function report(
  change: Parameters<typeof smallTail>[0] = {},
  name = "a.las",
  look: Look = {},
  left_out_as_noise: number | null = 3,
) {
  const summary = summarize({ ...file, name }, { tail: smallTail(change), edits: null }, sample, look, SCENE);
  return reportHtml({
    summary,
    pictures: await renderPictures(sample, { longest_px: 200 }),
    terrain: {
      noise: {
        done: true,
        flagged: 3,
        kept: 97,
        over_removal: false,
        method: "ror",
        params_used: { radius: 0.123456789, nb_points: 2 },
      },
      left_out_as_noise,
      ground: { done: false, asked: true, reason: `<b>no ground</b>` },
      dtm: { done: false, asked: true, reason: "the ground is not known" },
      dsm: { done: false, asked: false, reason: "left out (--no-dem)" },
      chm: { done: false, asked: false, reason: "left out (--no-dem)" },
      warnings: [],
    },
    terrainPictures: { rasters: [], profile: undefined },
    reproduce: [["Source file", name]],
    copy: { name: `${name}_copy.las`, format: "las", point_count: 40 },
    created: new Date(Date.UTC(2030, 0, 2, 3, 4)),
  });
}

test("escapes characters that are special in tags, attributes and text", () => {
  expect(escapeHtml(`<a b="c" d='e'>&\u0007\u202e\n`)).toBe(
    "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;\ufffd\ufffd\n",
  );
  expect(html`<p>${"<b>"}${html`<i>${1}</i>`}${[html`<u>`, html`</u>`]}</p>`.text).toBe(
    "<p>&lt;b&gt;<i>1</i><u></u></p>",
  );
});

test("hostile names, labels and warnings stay text", async () => {
  const attribute = {
    name: HOSTILE,
    label: HOSTILE,
    size: 4,
    type: HOSTILE as "float",
    num_elements: 1,
    min: [0],
    max: [1],
  };
  const page = await report({ attributes: [attribute], warnings: [HOSTILE] }, HOSTILE);
  expect(page).not.toContain("<script");
  expect(page).not.toContain("\u202e");
  expect(page.match(/&lt;script&gt;alert\(&#39;x&#39;\)/g)?.length).toBeGreaterThanOrEqual(6);
});

test.each([
  [3, "without noise"],
  [null, "from all points"],
])("%j points left out: the canopy is said to be computed %s", async (left_out, how) => {
  expect(await report({}, "a.las", {}, left_out)).toContain(`Surface and canopy are computed ${how}.`);
});

test("refers to nothing on the network", async () => {
  const page = await report();
  const links = [...page.matchAll(/(?:href|src)="([^"]{0,30})/g)].map(([, target]) => target);
  expect(links).toHaveLength(3);
  expect(links.every((target) => target?.startsWith("data:image/png;base64,"))).toBe(true);
  expect(page).not.toMatch(/https?:|@import|url\(/);
  expect(page).toContain("default-src 'none'");
});

test("shows world coordinates, counts, ranges and marks the estimate", async () => {
  const page = await report({ crs_epsg: 25832 });
  expect(page).toContain("476\u202f010.000, 5\u202f429\u202f020.000, 30.000 m");
  expect(page).toContain("EPSG:25832");
  expect(page).toContain("Reflectance [dB]");
  expect(page).toContain("\u221220.5 … 3");
  expect(page).toContain("\u221215 … 1");
  expect(page).toContain("Density seen from above (estimate)");
  expect(page).toContain("4 of 40 points drawn, evenly spread");
  expect(page).toContain("2030-01-02 03:04 UTC");
});

test("only the top view has a north arrow; every picture has a scale bar of a round length", async () => {
  const page = await report();
  expect(page.match(/class="north"/g)).toHaveLength(1);
  const bars = [...page.matchAll(/class="scale">.*?<text[^>]*>([^<]+)</gs)].map(([, text]) => text);
  // 10.4 m across in the top view; 10.4 m in the others too.
  expect(bars).toEqual(["2 m", "2 m", "2 m"]);
});

test("axis labels are world coordinates", async () => {
  const page = await report({ world_shift: [1000, 2000, 300] });
  const labels = [...page.matchAll(/text-anchor="(?:middle|end)">([\d\u202f.]+)</g)].map(([, text]) => text);
  expect(labels).toContain("1004");
  expect(labels).toContain("2004");
  expect(labels).toContain("302.0");
});

describe("density", () => {
  const flat = (points: readonly (readonly [number, number])[], total = points.length) => ({
    ...sample,
    point_count: points.length,
    total_count: total,
    position: Float64Array.from(points.flatMap(([x, y]) => [x, y, 0])),
  });

  test("counts points over occupied cells", () => {
    expect(
      groundDensity(
        flat([
          [0, 0],
          [0.5, 0.5],
          [0.9, 0.1],
          [7, -3],
        ]),
      ),
    ).toEqual({
      points_per_m2: 2,
      occupied_cells: 2,
      is_estimate: false,
    });
  });
  test("is an estimate for a sample of the cloud", () => {
    expect(
      groundDensity(
        flat(
          [
            [0, 0],
            [5, 5],
          ],
          100,
        ),
      ),
    ).toEqual({ points_per_m2: 50, occupied_cells: 2, is_estimate: true });
  });
  test("is missing without points and across the globe", () => {
    expect(groundDensity(flat([]))).toBeNull();
    expect(
      groundDensity(
        flat([
          [0, 0],
          [1e9, 0],
        ]),
      ),
    ).toBeNull();
  });
});

const SCAN = {
  scan_index: 0,
  name: "North",
  row_count: 1200,
  miss_count: 30,
  unplaceable_miss_count: 4,
  origin: [476010, 5429020, 31.5] as [number, number, number],
  n_theta: 30,
  n_phi: 40,
  theta_min: 30,
  theta_max: 120.5,
  phi_min: 350,
  phi_max: 390,
};
const BARE = { ...SCAN, scan_index: 1, name: null, origin: null, n_theta: 0, n_phi: 0, unplaceable_miss_count: 0 };
const NO_ANGLES = { theta_min: null, theta_max: null, phi_min: null, phi_max: null };

describe("scans", () => {
  test("have a section in the report, with their misses", async () => {
    const page = await report({ scans: [SCAN, { ...BARE, ...NO_ANGLES }] });
    expect(page).toContain("<h2>Scans</h2>");
    expect(page).toContain("30 (4)");
    expect(page).toContain("30 × 40");
    expect(page).toContain("30.00 … 120.50°");
    expect(page).toContain("350.00 … 390.00°");
    expect(page.match(/<tr><th scope="row">1<\/th><td>–<\/td>/g)).toHaveLength(1);
    expect(await report()).not.toContain("<h2>Scans</h2>");
  });

  test("a hostile name stays text in the page and in a spreadsheet", async () => {
    const scans = ['=HYPERLINK("http://x","y")', HOSTILE, " a,b\nc"].map((name) => ({ ...SCAN, name }));
    const page = await report({ scans });
    expect(page).not.toContain("<script");
    const lines = scansCsv(scans).split("\n");
    expect(lines).toHaveLength(5);
    expect(lines[1]).toMatch(/^0,"'=HYPERLINK\(""http:\/\/x"",""y""\)",1200,30,4,/);
    expect(lines[3]).toMatch(/^0," a,b c",/);
  });

  test("the table has a line per scan and empty fields for undeclared values", () => {
    expect(scansCsv([SCAN, { ...BARE, ...NO_ANGLES }])).toBe(
      [
        "scan_index,name,rows,misses,unplaceable_misses,origin_x,origin_y,origin_z,n_theta,n_phi,theta_min,theta_max,phi_min,phi_max",
        "0,North,1200,30,4,476010,5429020,31.5,30,40,30,120.5,350,390",
        "1,,1200,30,0,,,,,,,,,",
        "",
      ].join("\n"),
    );
  });
});

test("the declared number of rows is shown beside the number read", async () => {
  const crs = {
    epsg: 2229,
    name: "NAD83 / California zone 5",
    is_geographic: false,
    unit_name: null,
    unit_m: null,
    vertical_epsg: null,
    vertical_unit_m: null,
  };
  const page = await report({ crs_epsg: 2229 }, "a.las", { point_count: 99, crs });
  expect(page).toContain("30 of 99 declared");
  expect(page).toContain("EPSG:2229, NAD83 / California zone 5");
  expect(await report({}, "a.las", { point_count: 30 })).not.toContain("declared</td>");
});

test("shows the results and parameters of each step, or why there are none", async () => {
  const text = await report();
  expect(text).toContain("<td>3 (3.0 %)</td>");
  expect(text).toContain("<td>radius 0.1235, nb_points 2</td>");
  expect(text).toContain("not possible: &lt;b&gt;no ground&lt;/b&gt;");
  expect(text).toContain("<td>left out (--no-dem)</td>");
});
