import { ExportRequest } from "../../../shared/contract/pointcloud.ts";
import { AppError } from "../../../shared/errors.ts";
import { strings } from "../strings.ts";
import { count, fileStem } from "../workflow/format.ts";
import { cloudOperation } from "./operation.ts";

const words = strings.workflow.operations.export;

/** Writes the cloud to a file of the service's machine, or lets the browser save it. */
export const exportCloud = cloudOperation({
  id: "export",
  schema: ExportRequest,
  leaves_work: false,
  words,
  run: async (request, { client, cloud, run }) => {
    const source = { session_id: cloud.session_id, want_colors: true, want_extras: true };
    const filename = fileStem(cloud.name);
    const answer = await client.exportCloud({ ...request, source, filename }, run);
    if (!answer.success) throw new AppError(answer.code ?? "internal", answer.error ?? words.none);
    const file = answer.data === null ? null : bytesOf(answer.data);
    return {
      facts: [
        [words.facts.points, count(answer.point_count)],
        [words.facts.file, request.dest_path ?? answer.filename],
      ],
      warnings: answer.warnings ?? [],
      ...(file ? { file: { name: answer.filename, content: file, type: "application/octet-stream" } } : {}),
    };
  },
});

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return bytes;
}
