import { z } from "zod";

/** Which path heavy computations take, and why. A failing probe means no GPU, never an error. */
export const DeviceInfo = z
  .object({
    gpu_present: z.boolean().default(false).describe("a usable NVIDIA GPU and driver were found at run time"),
    gpu_count: z.int().min(0).default(0).describe("usable GPUs"),
    gpu_name: z.string().nullable().default(null).describe("first device"),
    driver_version: z.string().nullable().default(null).describe("of the NVIDIA driver; null without a GPU"),
    effective_path: z.enum(["gpu", "cpu"]).default("cpu").describe("where computations that can use a GPU run"),
    reason: z.string().default("").describe("why, a sentence for the user"),
  })
  .meta({ id: "DeviceInfo" });
export type DeviceInfo = z.infer<typeof DeviceInfo>;
