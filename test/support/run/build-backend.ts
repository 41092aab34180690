import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Once before all tests: the bundle that the tests of whole processes start. Takes a moment when it is fresh. */
export default function buildBackend(): void {
  const script = fileURLToPath(new URL("../../../scripts/build-ts.mjs", import.meta.url));
  execFileSync(process.execPath, [script], { stdio: "inherit" });
}
