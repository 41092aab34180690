import { expect, test } from "vitest";
import { prefersJson } from "../../../../backend/http/accept.ts";

test.each([
  ["application/json", true],
  ["Application/JSON", true],
  ["application/json; charset=utf-8", true],
  ["text/html, application/json", true],
  ["application/json, */*;q=0.8", true],
  ["application/json;q=0.5, */*;q=0.1", true],
  ["application/json, application/octet-stream;q=0", true],
  ["application/json, */*, application/octet-stream;q=0.2", true], // the named type is the more specific range
  [undefined, false],
  ["", false],
  ["*/*", false],
  ["application/*", false],
  ["application/octet-stream", false],
  ["application/json, */*", false], // as axios and many others send without a wish of their own
  ["application/json, text/plain, */*", false],
  ["application/json;q=0.5, application/octet-stream", false],
  ["application/json, application/octet-stream", false],
  ["application/json;q=0", false],
  ["application/json;q=high", false],
  ["application/jsonx", false],
  ["application/problem+json", false],
])("%s", (accept, wanted) => {
  expect(prefersJson(accept)).toBe(wanted);
});
