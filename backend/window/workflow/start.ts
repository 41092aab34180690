import type { Client } from "../../../shared/client/index.ts";
import type { Strings } from "../strings.ts";
import type { CloudView } from "../view/cloud-view.ts";

/** What the parts around the view are made of. */
export interface WorkflowParts {
  readonly client: Client;
  readonly view: CloudView;
  readonly strings: Strings;
  /** The page; elements are looked up by the ids of index.html. */
  readonly page: Document;
  /** Access token of the service; undefined where it asks for none. */
  readonly token: string | undefined;
}
