// Response headers that the gateway forwards. Every response may be from a backend behind `proxy` or from an aggregated API
// server, so it passes only headers that describe the response itself, and none that acts on the origin of the sign-in pages.
import type { IncomingMessage } from 'node:http';
import { hasBody } from '../http/request-body.ts';
import { type ProxiedContext, SANDBOX } from '../request/gateway-route.ts';
import { pathIn } from '../request/request-path.ts';
import { connectionOptions } from './forwarded-headers.ts';
import { PROXY_PATH } from './proxied-request.ts';

/** `Content-Length` is forwarded too; `Content-Type` and `Location` are, if their values are valid. */
const FORWARDED: ReadonlySet<string> = new Set([
  // RFC 9110 and RFC 9111.
  'accept-ranges',
  'age',
  'allow',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-range',
  'date',
  'etag',
  'expires',
  'last-modified',
  'retry-after',
  'vary',
  // kube-apiserver.
  'warning',
  'x-kubernetes-pf-flowschema-uid',
  'x-kubernetes-pf-prioritylevel-uid',
  // Upgrades.
  'sec-websocket-accept',
  'sec-websocket-extensions',
  'sec-websocket-protocol',
  'sec-websocket-version',
  'x-accepted-stream-protocol-versions',
  'x-stream-protocol-version',
]);

/** Further headers at `gateway.proxyHost`: those of the page itself, and cookies. Only a cookie acts on later responses, and on other hosts of its domain. */
const OF_PAGES: ReadonlySet<string> = new Set([
  'content-security-policy',
  'cross-origin-embedder-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'location',
  'permissions-policy',
  'referrer-policy',
  'set-cookie',
  'x-frame-options',
]);

/** The headers of a response of kube-apiserver. */
interface Head extends Pick<IncomingMessage, 'headers'> {
  readonly rawHeaders: readonly string[];
}

/** Returns the headers of the response to the client, names and values in turn. */
export function responseHeaders(
  upstream: Head,
  {
    auditID,
    atProxyHost,
    request: { url = '' },
  }: Pick<ProxiedContext, 'auditID' | 'atProxyHost' | 'request'>,
): string[] {
  const { rawHeaders } = upstream;
  const named = connectionOptions(upstream);
  const headers = ['Audit-Id', auditID, 'X-Content-Type-Options', 'nosniff', ...(atProxyHost ? [] : SANDBOX)];
  const types: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i] ?? '';
    const value = rawHeaders[i + 1] ?? '';
    const name = header.toLowerCase();
    if (named?.has(name)) continue;
    if (FORWARDED.has(name) || (atProxyHost && OF_PAGES.has(name))) headers.push(header, value);
    else if (name === 'content-type') types.push(value);
    else if (name === 'location') pushLocation(headers, value, url);
  }
  const type = types.length === 1 && isMediaType(types[0] ?? '') ? types[0] : OCTETS;
  if (types.length > 0 || hasBody(upstream)) headers.push('Content-Type', type ?? OCTETS);
  // Last: Node encodes a `Content-Disposition` behind it in another way than all other headers.
  const { 'content-length': length } = upstream.headers;
  if (length !== undefined) headers.push('Content-Length', length);
  return headers;
}

/** Returns true for a body of JSON that is not compressed. */
export function isPlainJSON({ headers }: Pick<Head, 'headers'>): boolean {
  const isJSON = headers['content-type']?.startsWith('application/json') === true;
  return isJSON && headers['content-encoding'] === undefined;
}

const REASON = /^[ -~\u0080-\u00ff]*$/;

/** Returns the reason phrase, which a backend chooses for an upgrade. Clients print it on a terminal. */
export function reasonOf({ statusMessage = '' }: Pick<IncomingMessage, 'statusMessage'>): string {
  return REASON.test(statusMessage) ? statusMessage : '';
}

const OCTETS = 'application/octet-stream';
const MAX_TYPE_LENGTH = 256;
/**
 * RFC 9110, 8.3.1, without commas and comments in parameters. Types of kube-apiserver contain `@`. Blanks belong to one part of the
 * expression only, so that matching takes linear time.
 */
const MEDIA_TYPE =
  /^[\w!#$&^.+@-]+\/[\w!#$&^.+@-]+(?:[ \t]*;(?:[ \t]*[\w!#$&^.+-]+=(?:[\w!#$&^.+@-]+|"[ !#-'*+\--:<-[\]-~]*"))?)*[ \t]*$/;
/** The parts of this type have headers of their own. */
const REPLACING = /^multipart\/x-mixed-replace/i;

/** Returns true for one media type that all clients read in the same way. */
function isMediaType(value: string): boolean {
  return value.length <= MAX_TYPE_LENGTH && MEDIA_TYPE.test(value) && !REPLACING.test(value);
}

/** A redirect of kube-apiserver to the current hash of a document. */
const OPENAPI_PATH = /^\/openapi\/v3(?=\/|$)/;

/**
 * Forwards a redirect to the same backend only. Clients follow a redirect to this host with their token, so a backend could choose another
 * request that they send.
 */
function pushLocation(headers: string[], value: string, target: string): void {
  const path = pathIn(target);
  const [prefix] = PROXY_PATH.exec(path) ?? OPENAPI_PATH.exec(path) ?? [];
  // The host is only needed to parse the value.
  const found = URL.parse(value, `https://gateway.invalid${target}`);
  if (prefix === undefined || found?.origin !== 'https://gateway.invalid') return;
  if (!found.pathname.startsWith(`${prefix}/`)) return;
  headers.push('Location', found.pathname + found.search + found.hash);
}
