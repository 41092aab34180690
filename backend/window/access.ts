const KEY = "access-token";

/**
 * The access token of the service: taken from the fragment of the page's address (#token=...), which is removed from
 * the address bar and the history, and kept for this tab only, so that a reload still has it. Undefined if none was
 * given: the service asks for none, or the desktop app adds it to the requests.
 */
export function takeToken(page: Pick<Window, "location" | "history" | "sessionStorage">): string | undefined {
  const { location, history, sessionStorage } = page;
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return sessionStorage.getItem(KEY) ?? undefined;
}
