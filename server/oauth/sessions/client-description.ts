// What a stranger says about himself, made safe for a terminal: bounded, and without characters that move the cursor or
// reverse the line. The bounds are those of the Session object.
const MAX_SOURCE = 64;
const MAX_USER_AGENT = 256;

export function shownSource(address: string): string {
  return printable(address, MAX_SOURCE);
}

export function shownUserAgent(userAgent: string): string {
  return printable(userAgent, MAX_USER_AGENT);
}

/** Header fields are ASCII (RFC 9110, 5.5); whatever else came is shown as a question mark. */
function printable(text: string, length: number): string {
  return text
    .slice(0, length)
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .trim();
}
