import type { CloudView } from "../view/cloud-view.ts";
import type { Cloud, Clouds } from "../workflow/clouds.ts";

/** Shows the octree of a response that added a column, coloured by that column. */
export async function showColumn(
  answer: object,
  column: string,
  { session_id }: Cloud,
  { clouds, view }: { readonly clouds: Clouds; readonly view: CloudView },
): Promise<void> {
  if ("cache_id" in answer && "attributes" in answer) {
    await clouds.draw(session_id, answer as Parameters<Clouds["draw"]>[1]);
  } else await clouds.renew(session_id);
  const kind = /_(class|instance)$/.test(column) ? "class" : "column";
  view.setColouring({ kind, column });
}
