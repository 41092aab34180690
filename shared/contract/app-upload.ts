import { z } from "zod";
import { MAX_UPLOAD_NAME_CHARS, UPLOAD_TTL_S } from "../limits.ts";

const UploadId = z.string().describe("id of the upload, 32 lower-case hex digits");

export const UploadQuery = z.object({
  name: z
    .string()
    .min(1)
    .max(MAX_UPLOAD_NAME_CHARS)
    .describe("name of the file, whose extension tells its format; characters that a file name may not have become _"),
});
export type UploadQuery = z.infer<typeof UploadQuery>;

export const UploadResponse = z
  .object({
    upload_id: UploadId,
    path: z.string().describe("absolute path of the file on the service's machine, for the requests that read it"),
    name: z.string().describe("name of the stored file"),
    bytes: z.int().describe("size, bytes"),
    expires_s: z.int().describe(`time until the service removes it, seconds: ${UPLOAD_TTL_S}`),
  })
  .meta({ id: "UploadResponse" });
export type UploadResponse = z.infer<typeof UploadResponse>;

export const UploadParams = z.object({ upload_id: UploadId });

export const DeleteUploadResponse = z
  .object({
    upload_id: UploadId,
    deleted: z.boolean().describe("false: there is none with this id"),
  })
  .meta({ id: "DeleteUploadResponse" });
export type DeleteUploadResponse = z.infer<typeof DeleteUploadResponse>;
