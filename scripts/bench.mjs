// `npm run bench [-- JOB...] [--runs N] [--json] [--update] [--check] [--factor F] [--install-peers] [--list]`
import { register } from "tsx/esm/api";

register();
await import("../test/bench/main.ts");
