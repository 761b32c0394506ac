const key = 'reprise.token';

/** Takes the token from the fragment of the address, where only this page sees it, and removes it from the bar. */
export function takeToken(): string | undefined {
  const [, fromBar] = /^#(?:token=)?([\w.~-]{8,})$/.exec(location.hash) ?? [];
  if (fromBar !== undefined) {
    sessionStorage.setItem(key, fromBar);
    history.replaceState(null, '', location.pathname + location.search);
  }
  return sessionStorage.getItem(key) ?? undefined;
}

/** Keeps a token that was typed. */
export function keepToken(token: string): void {
  sessionStorage.setItem(key, token);
}
