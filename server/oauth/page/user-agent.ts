// Short form of a User-Agent header for display, such as `Firefox on Linux`. It is a hint for the user and proves nothing.

/** In the order of the search: most browsers also name others that they resemble. */
const BROWSERS = [
  ['Edge', /\bEdgA?(?:iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  ['Safari', /\bSafari\//],
] as const;

const SYSTEMS = [
  ['Windows', /\bWindows\b/],
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
] as const;

const MAX_PROGRAM = 40;

/** Other programs: the first product (RFC 9110, 10.1.5), such as `kubelogin/1.34`. Empty for an empty header. */
export function shortUserAgent(userAgent: string): string {
  const browser = BROWSERS.find(([, pattern]) => pattern.test(userAgent))?.[0];
  if (browser === undefined) return (/^\S*/.exec(userAgent)?.[0] ?? '').slice(0, MAX_PROGRAM);
  const system = SYSTEMS.find(([, pattern]) => pattern.test(userAgent))?.[0];
  return system === undefined ? browser : `${browser} on ${system}`;
}
