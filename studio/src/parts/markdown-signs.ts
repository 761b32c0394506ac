const signs = /^(?:#{1,6} |```|~~~|> |[-*+] |\d{1,9}[.)] |\||={3,} *$)|\*\*|`[^`\n]|\]\(/m;

/** Returns true if a string looks like Markdown. */
export const looksLikeMarkdown = (text: string): boolean => signs.test(text);
