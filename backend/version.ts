import { readFileSync } from "node:fs";

/** Version of the service: set by the bundler, read from package.json when running from source. */
export const version: string =
  process.env.APP_BUILD_VERSION ??
  (JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }).version;
