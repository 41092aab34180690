import { zipSync } from "fflate";
import { expect, test } from "vitest";
import { sessionTest } from "../support/session/session-test.ts";

/* Workbooks that a stranger prepared: nothing outside of them is read, and nothing grows. */

const made = sessionTest();
const EDGE = "x-edge-x";
const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const sheetOf = (cells: string, prolog = "") =>
  `<?xml version="1.0"?>${prolog}<worksheet xmlns="${MAIN}"><sheetData>${cells}</sheetData></worksheet>`;
const text = (reference: string, words: string) => `<c r="${reference}" t="inlineStr"><is><t>${words}</t></is></c>`;
const rows = (words: string) =>
  `<row r="1">${text("A1", words)}${text("B1", "y")}</row>${[2, 3, 4, 5].map((i) => `<row r="${i}"><c r="A${i}"><v>${i}</v></c><c r="B${i}"><v>${2 * i}</v></c></row>`).join("")}`;

function workbook(sheet: string, more: Record<string, Uint8Array> = {}): Buffer {
  const part = (xml: string) => Buffer.from(xml);
  const package_ = "http://schemas.openxmlformats.org/package/2006";
  return Buffer.from(
    zipSync({
      "[Content_Types].xml": part(
        `<Types xmlns="${package_}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>`,
      ),
      "_rels/.rels": part(
        `<Relationships xmlns="${package_}/relationships"><Relationship Id="rId1" Type="${RELATED}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
      ),
      "xl/workbook.xml": part(
        `<workbook xmlns="${MAIN}" xmlns:r="${RELATED}"><sheets><sheet name="a" sheetId="1" r:id="rId1"/></sheets></workbook>`,
      ),
      "xl/_rels/workbook.xml.rels": part(
        `<Relationships xmlns="${package_}/relationships"><Relationship Id="rId1" Type="${RELATED}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
      ),
      "xl/worksheets/sheet1.xml": part(sheet),
      ...more,
    }),
  );
}

async function sent(file: Buffer) {
  const field = (name: string, value: string) =>
    `--${EDGE}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const head = `${field("model_category", "generic")}${field("model_type", "linear")}--${EDGE}\r\ncontent-disposition: form-data; name="file"; filename="t.xlsx"\r\n\r\n`;
  const payload = Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${EDGE}--\r\n`)]);
  const before = process.memoryUsage.rss();
  const began = performance.now();
  const answer = await made.app.inject({
    method: "POST",
    url: "/api/fit",
    headers: { "content-type": `multipart/form-data; boundary=${EDGE}` },
    payload,
  });
  return {
    status: answer.statusCode,
    body: answer.body,
    ms: performance.now() - began,
    grown: process.memoryUsage.rss() - before,
  };
}

test("entities name no file, and do not multiply", async () => {
  const file = await sent(workbook(sheetOf(rows("&x;"), '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>')));
  expect(file.body).not.toMatch(/root:|daemon:/);
  expect(file.status).toBeLessThan(500);
  const levels = Array.from({ length: 12 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join("");
  const laughs = await sent(workbook(sheetOf(rows("&l12;"), `<!DOCTYPE a [<!ENTITY l0 "ha">${levels}]>`)));
  expect(laughs.status).toBeLessThan(500);
  expect(laughs.ms).toBeLessThan(20_000);
  expect(laughs.grown).toBeLessThan(400 * 2 ** 20);
});

test("members that lead out of the archive write nothing, and nothing grows to gigabytes", async () => {
  const out = await sent(
    workbook(sheetOf(rows("x")), {
      "../../../../tmp/evil.xml": Buffer.from("<a/>"),
      "/tmp/evil2.xml": Buffer.from("<a/>"),
    }),
  );
  expect(out.status).toBeLessThan(500);
  const bomb = await sent(workbook(sheetOf(rows(" ".repeat(60 * 2 ** 20)))));
  expect([bomb.status, JSON.parse(bomb.body).detail]).toEqual([
    400,
    expect.stringMatching(/holds more than 4194304 bytes/),
  ]);
});
