import "./no-eval.ts";
import { createClient } from "../../shared/client/index.ts";
import { takeToken } from "./access.ts";
import { byId, namePage } from "./page.ts";
import { strings } from "./strings.ts";
import type { CloudView, FetchOctreeFile } from "./view/cloud-view.ts";
import { createCloudView } from "./view/create-view.ts";
import { createNoView } from "./view/no-view.ts";
import { legendPanel } from "./view/panels/legend-panel.ts";
import { profilePanel } from "./view/panels/profile-panel.ts";
import { readingsPanel } from "./view/panels/readings-panel.ts";
import { statsLine } from "./view/panels/stats-line.ts";
import { toolOptions } from "./view/panels/tool-options.ts";
import { viewToolbar } from "./view/panels/toolbar.ts";
import { startWorkflow } from "./workflow/start.ts";

/** The view with its panels. Where the browser cannot draw, the view says so, and the rest of the page works. */
function makeView(fetchOctreeFile: FetchOctreeFile): CloudView {
  const holder = byId(document, "view");
  let view: CloudView;
  try {
    view = createCloudView(holder, { strings: strings.view, fetchOctreeFile });
  } catch {
    return createNoView(holder, strings.view.noWebgl);
  }
  viewToolbar(byId(document, "view-toolbar"), view, strings.view);
  toolOptions(byId(document, "tool-options"), view, strings.view);
  legendPanel(byId(document, "legend-panel"), view, strings.view);
  readingsPanel(byId(document, "readings-panel"), view, strings.view);
  profilePanel(byId(document, "profile-panel"), view, strings.view);
  statsLine(byId(document, "stats-line"), view, strings.view);
  return view;
}

namePage(document, strings);
const token = takeToken(window);
const client = createClient({ baseUrl: location.origin, ...(token === undefined ? {} : { token }) });
const view = makeView((cacheId, file, range, options) => client.octreeFile(cacheId, file, range, options));
startWorkflow({ client, view, strings, page: document, token });
