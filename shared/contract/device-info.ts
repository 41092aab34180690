import { z } from "zod";

/** Device that long computations use, and why. A failing probe counts as no GPU; it is not an error. */
export const DeviceInfo = z
  .object({
    gpu_present: z.boolean().default(false).describe("true: a usable NVIDIA GPU and driver were found"),
    gpu_count: z.int().min(0).default(0).describe("number of usable GPUs"),
    gpu_name: z.string().nullable().default(null).describe("name of the first GPU; null without a GPU"),
    driver_version: z.string().nullable().default(null).describe("version of the NVIDIA driver; null without a GPU"),
    effective_path: z.enum(["gpu", "cpu"]).default("cpu").describe("device used by computations that support a GPU"),
    reason: z.string().default("").describe("reason for effective_path, a sentence for the user"),
  })
  .meta({ id: "DeviceInfo" });
export type DeviceInfo = z.infer<typeof DeviceInfo>;
