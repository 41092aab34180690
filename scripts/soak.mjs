// `npm run soak [-- --minutes 60 --users 8 --seed 1 --pause 1]`: see test/soak/main.ts
import { register } from "tsx/esm/api";

register();
await import("../test/soak/main.ts");
