/** A URL with only hosts, a path and named parameters: no user, so no password before the path. */
const withoutUser =
  /^\w+:\/\/(?:\[[^\]]*\]|[^:/?#@,[]*)(?::\d*)?(?:,(?:\[[^\]]*\]|[^:/?#@,[]*)(?::\d*)?)*(?:\/[^?#@]*)?(?:\?\w+=.*)?$/s;
/** The same with a user, and a password without special characters. */
const wellFormed = /^(\w+:\/\/[^:/?#@]*)(?::[^/?#@]*)?(@[^/?#@]*(?:\/[^?#@]*)?(?:\?\w+=.*)?)$/s;
/**
 * Everything between the user and the last "@": a password may have characters with a meaning in URLs, and the text
 * around a malformed URL may be anything.
 */
const anything = /^(.*?:\/\/[^:@]*|[^:@]*):.*@/s;
/** The path of a file, which has no password and may have any character. */
const file = /^sqlite:(?!\/\/[^/])/i;

/**
 * Returns the URL of a store without the password, for messages. Of a malformed URL it leaves out too much rather than
 * too little.
 */
export function withoutPassword(url: string): string {
  if (file.test(url)) return url;
  const shown = withoutUser.test(url)
    ? url
    : wellFormed.test(url)
      ? url.replace(wellFormed, '$1$2')
      : url.replace(anything, '$1@');
  return shown.replace(/([?&;])(?:ssl)?password=[^&;]*[&;]?/gi, '$1').replace(/[?&;]$/, '');
}
