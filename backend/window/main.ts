import "./no-eval.ts";
import { createClient } from "../../shared/client/index.ts";
import { takeToken } from "./access.ts";
import { strings } from "./strings.ts";

const token = takeToken(window);
const client = createClient({ baseUrl: location.origin, ...(token === undefined ? {} : { token }) });
document.title = strings.appTitle;
void client.health();
