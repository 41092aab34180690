import "./no-eval.ts";
import { createClient } from "../../shared/client/index.ts";
import { takeToken } from "./access.ts";
import { byId, namePage } from "./page.ts";
import { strings } from "./strings.ts";
import type { CloudView } from "./view/cloud-view.ts";
import { createCloudView } from "./view/create-view.ts";
import { legendPanel } from "./view/panels/legend-panel.ts";
import { profilePanel } from "./view/panels/profile-panel.ts";
import { readingsPanel } from "./view/panels/readings-panel.ts";
import { statsLine } from "./view/panels/stats-line.ts";
import { toolOptions } from "./view/panels/tool-options.ts";
import { viewToolbar } from "./view/panels/toolbar.ts";
import { startWorkflow } from "./workflow/start.ts";

/** The view with its panels; undefined where the browser cannot draw it, which the page then says. */
function makeView(fetchOctreeFile: Parameters<typeof createCloudView>[1]["fetchOctreeFile"]): CloudView | undefined {
  const holder = byId(document, "view");
  try {
    const view = createCloudView(holder, { strings: strings.view, fetchOctreeFile });
    viewToolbar(byId(document, "view-toolbar"), view, strings.view);
    toolOptions(byId(document, "tool-options"), view, strings.view);
    legendPanel(byId(document, "legend-panel"), view, strings.view);
    readingsPanel(byId(document, "readings-panel"), view, strings.view);
    profilePanel(byId(document, "profile-panel"), view, strings.view);
    statsLine(byId(document, "stats-line"), view, strings.view);
    return view;
  } catch {
    const message = document.createElement("p");
    message.className = "view-message";
    message.textContent = strings.view.noWebgl;
    holder.append(message);
    return undefined;
  }
}

namePage(document, strings);
const token = takeToken(window);
const client = createClient({ baseUrl: location.origin, ...(token === undefined ? {} : { token }) });
const view = makeView((cacheId, file, range, options) => client.octreeFile(cacheId, file, range, options));
if (view) startWorkflow({ client, view, strings, page: document, token });
