// Sanitizes client text before logging, and text of files and of the cluster before a person reads it at a terminal.
/** Maximum length of a logged text, above any legitimate length, so that clients cannot fill the disk. */
const MAX_TEXT = 1024;
const MAX_AGENT = 256;

/**
 * Truncates a text to `most` characters, and replaces control characters, which a terminal would execute, and those that change the order
 * of the text.
 */
export function printable(text: string, most: number = MAX_TEXT): string {
  return text.slice(0, most).replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '?');
}

/** Returns the User-Agent for the access log. */
export function recordedAgent(agent: string): string {
  return printable(agent, MAX_AGENT);
}

/** Replaces control characters, which a terminal would execute, except those that lay out lines. */
export function printableLines(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, '?');
}
