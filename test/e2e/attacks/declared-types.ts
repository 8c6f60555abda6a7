// Responses of a hostile backend that a browser might take for a page with a script. The script sets `ran` to the origin
// in which it runs.
import { gzipSync } from 'node:zlib';

interface Declared {
  readonly title: string;
  readonly status?: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: string | Buffer;
}

const SCRIPT = 'globalThis.ran = self.origin;';
export const HTML = `<!doctype html><title>hostile</title><script>${SCRIPT}</script>`;
const XHTML = `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>hostile</title><script>${SCRIPT}</script></head></html>`;
const SVG = `<svg xmlns="http://www.w3.org/2000/svg"><script>${SCRIPT}</script></svg>`;
/** The browser transforms the document with a style sheet of the same backend, see STYLE_SHEET. */
const TRANSFORMED = `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="style.xsl"?><a/>`;
export const STYLE_SHEET = `<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><html><script>${SCRIPT}</script></html></xsl:template></xsl:stylesheet>`;
const PART = `--x\r\nContent-Type: text/html\r\n\r\n${HTML}\r\n--x--\r\n`;
const MHTML = `From: a\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="x"; type="text/html"\r\n\r\n${PART}`;
const UTF_7 = HTML.replaceAll('<', '+ADw-').replaceAll('>', '+AD4-');

function typed(types: readonly string[], body: string | Buffer = HTML, ...headers: string[]): Declared {
  const all = [...types.flatMap((type) => ['Content-Type', type]), ...headers];
  return { title: JSON.stringify(all).slice(1, -1), headers: all, body };
}

export const DECLARED: readonly Declared[] = [
  typed(['text/html']),
  typed(['TEXT/Html; Charset=UTF-8']),
  typed(['\ttext/html\t;']),
  // Browsers use the last of several types.
  typed(['text/plain', 'text/html']),
  typed(['application/json', 'application/json', 'text/html']),
  typed(['text/plain, text/html']),
  typed(['application/json;charset="utf-8",text/html;charset=utf-8']),
  typed(['application/json; a="\\", text/html; b="']),
  typed(['text/plain;', ',text/html']),
  typed(['text/plain', '*/*']),
  // Types that browsers replace by the content.
  typed([]),
  typed(['']),
  typed(['*/*']),
  typed(['unknown/unknown']),
  typed(['application/unknown']),
  typed(['html']),
  typed(['text/plain'], `\ufeff${HTML}`, 'X-Content-Type-Options', 'sniff'),
  typed([], `\ufeff${HTML}`),
  // Character sets.
  typed(['text/html; charset=utf-7'], UTF_7),
  typed(['text/html; charset=utf-16le'], Buffer.from(HTML, 'utf16le')),
  typed(['text/html; charset=x-user-defined']),
  // Other types with scripts.
  typed(['application/xhtml+xml'], XHTML),
  typed(['text/xml'], XHTML),
  typed(['application/xml'], TRANSFORMED),
  typed(['application/json+xml'], XHTML),
  typed(['image/svg+xml'], SVG),
  typed(['application/rss+xml'], XHTML),
  typed(['application/mathml+xml'], XHTML),
  typed(['multipart/x-mixed-replace; boundary=x'], PART),
  typed(['multipart/related; boundary=x; type="text/html"'], MHTML),
  typed(['message/rfc822'], MHTML),
  // Other ways to a page.
  typed(['text/html'], gzipSync(HTML), 'Content-Encoding', 'gzip'),
  typed(['text/html'], HTML, 'Content-Security-Policy', 'sandbox allow-same-origin allow-scripts'),
  typed(['text/html'], HTML, 'Content-Disposition', 'inline'),
  { ...typed(['text/html']), title: 'an error page', status: 500 },
  {
    ...typed(['text/html'], HTML, 'WWW-Authenticate', 'Basic realm="platform"'),
    title: 'a challenge',
    status: 401,
  },
  { ...typed(['text/plain'], HTML, 'Location', '0'), title: 'a redirect to a page', status: 302 },
];
