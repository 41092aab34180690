// `node scripts/train/make-scans.mjs FOLDER [trees per species] [first seed] [species,..]`
import { register } from "tsx/esm/api";

register();
await import("../../test/accuracy/wood-training.ts");
