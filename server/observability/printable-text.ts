// Sanitizes client text before logging.
/** Maximum length of a logged text, above any legitimate length, so that clients cannot fill the disk. */
const MAX_TEXT = 1024;
const MAX_AGENT = 256;

/** Truncates a text to `most` characters, and replaces control characters, which a terminal would execute. */
export function printable(text: string, most: number = MAX_TEXT): string {
  return text.slice(0, most).replaceAll(/\p{Cc}/gu, '?');
}

/** Returns the User-Agent for the access log. */
export function recordedAgent(agent: string): string {
  return printable(agent, MAX_AGENT);
}
