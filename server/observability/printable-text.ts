/** Above any legitimate length: clients must not fill the disk with long names. */
const MAX_TEXT = 1024;
const MAX_AGENT = 256;

/** Truncates text from clients and replaces control characters, which a terminal would execute. */
export function printable(text: string, most: number = MAX_TEXT): string {
  return text.slice(0, most).replaceAll(/\p{Cc}/gu, '?');
}

/** The User-Agent of a record. */
export function recordedAgent(agent: string): string {
  return printable(agent, MAX_AGENT);
}
