/** `scheme://` and nothing but hosts, a path and named parameters: no user, so no password before the path. */
const withoutUser =
  /^\w+:\/\/(?:\[[^\]]*\]|[^:/?#@,[]*)(?::\d*)?(?:,(?:\[[^\]]*\]|[^:/?#@,[]*)(?::\d*)?)*(?:\/[^?#@]*)?(?:\?\w+=.*)?$/s;
/** The same behind a user, and a password that is written as it should be. */
const wellFormed = /^(\w+:\/\/[^:/?#@]*)(?::[^/?#@]*)?(@[^/?#@]*(?:\/[^?#@]*)?(?:\?\w+=.*)?)$/s;
/** Whatever is between the user and the last "@": a password may hold characters that a URL gives a meaning to. */
const anything = /^(\w+:\/\/[^:@]*):.*@/s;

/**
 * The URL of a store as it can be shown to anyone: without the password, also where the URL is otherwise wrong. Then
 * rather too much is left out than too little.
 */
export function withoutPassword(url: string): string {
  const shown = withoutUser.test(url)
    ? url
    : wellFormed.test(url)
      ? url.replace(wellFormed, '$1$2')
      : url.replace(anything, '$1@');
  return shown.replace(/([?&])(?:ssl)?password=[^&]*&?/gi, '$1').replace(/[?&]$/, '');
}
