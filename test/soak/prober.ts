// A process of its own: asks GET /health every 20 ms and tells how long the answers took, once a minute.
import { request } from "node:http";

const [, , url = ""] = process.argv;
const EVERY_MS = 20;
let waits: number[] = [];

function ask(): Promise<number> {
  const sent = performance.now();
  return new Promise((resolve, reject) => {
    const call = request(`${url}/health`, { agent: false }, (answer) => {
      answer.resume().on("end", () => resolve(performance.now() - sent));
    });
    call.on("error", reject).end();
  });
}

setInterval(() => {
  process.send?.(waits);
  waits = [];
}, 60_000);
process.on("message", () => {
  process.send?.(waits, () => process.exit(0));
});
for (;;) {
  waits.push(await ask());
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
}
