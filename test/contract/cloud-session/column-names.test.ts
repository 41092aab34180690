import { describe, expect, test } from "vitest";
import { create, exported } from "../../support/app/app.ts";
import { lasBytes } from "../../support/scans/las-bytes.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();

const slugs = (tail: { attributes: { name: string }[] }) => tail.attributes.map(({ name }) => name);

describe("column names that a viewer reserves", () => {
  test.each(["rgb", "rgba", "position", "NORMAL", "INDICES", "Position_Cartesian"])("text column %s", async (name) => {
    const file = made.file("a.csv", `x,y,z,${name}\n1,2,3,4\n5,6,7,9\n`);
    expect(slugs(await create(made, file))).toEqual(["position", `${name}_field`]);
  });

  test("together with real colours, and in LAS extra bytes and PLY", async () => {
    const text = made.file("b.csv", "x,y,z,r,g,b,rgb\n1,2,3,10,20,30,4\n5,6,7,40,50,60,9\n");
    expect(slugs(await create(made, text))).toEqual(["position", "rgb", "rgb_field"]);
    const las = lasBytes(
      [
        { x: 1, y: 2, z: 3, extra: { normal: 1 } },
        { x: 2, y: 2, z: 3, extra: { normal: 2 } },
      ],
      {
        extras: [{ name: "normal", type: "f32" }],
      },
    );
    expect(slugs(await create(made, made.file("c.las", las)))).toContain("normal_field");
    const ply =
      "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nproperty float rgba\nend_header\n1 2 3 4\n";
    expect(slugs(await create(made, made.file("d.ply", ply)))).toContain("rgba_field");
  });
});

test.each(["constructor", "toString", "__proto__", "hasOwnProperty"])(
  "column %s of small whole numbers survives a LAS export",
  async (name) => {
    const tail = await create(made, made.file("e.csv", `x,y,z,${name}\n1,2,3,4\n5,6,7,9\n`));
    const slug = slugs(tail)[1];
    const again = await create(made, made.file("e.las", await exported(made, tail.session_id, "las")));
    expect(slugs(again)).toContain(slug);
  },
);
