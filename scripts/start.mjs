// `npm start`: sets up what is missing, then hands over to the backend in this process.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./fingerprint.mjs";
import { setup } from "./setup.mjs";

await setup();
await import(pathToFileURL(join(root, "dist", "backend", "entry", "headless.js")).href);
