/**
 * Whether it is the origin of a web page, written as browsers send it: lower case, no default port, nothing behind. A URL
 * may have an asterisk in its host; no page has, and who writes one means a pattern.
 */
export function isOrigin(text: string): boolean {
  return /^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
