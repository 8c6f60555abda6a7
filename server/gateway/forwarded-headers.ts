// Request headers that the gateway forwards. Headers of the connection are removed first, and identity headers are added
// last, so that no `Connection` header can remove an identity header (RFC 9110, 7.6.1).
import type { IncomingMessage } from 'node:http';
import type { Credential } from '../authentication/authenticator.ts';
import { isTokenProtocol } from '../authentication/bearer-token.ts';
import { TRACE_HEADERS } from '../upstream/trace-context.ts';

/** Names and values in turn, as `rawHeaders` of Node. Several headers of one name stay separate. */
type RawHeaders = readonly string[];

/** Headers of one connection (RFC 9110, 7.6.1). `Expect` is handled by the listener. */
const HOP_BY_HOP = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers of requests that are not forwarded. The gateway sets most of them itself. */
const REPLACED = new Set([
  ...HOP_BY_HOP,
  'audit-id',
  'authorization',
  'content-length',
  'forwarded',
  'host',
  'via',
  'x-forwarded-for',
  'x-real-ip',
]);

const IMPERSONATION = /^impersonate-/i;

/**
 * Returns the identity headers of a caller who is not impersonated: the one credential that this server has authenticated, and the
 * impersonation that the caller requests. Neither can be removed by a `Connection` header.
 */
export function forwardedIdentity({
  request: { rawHeaders },
  credential,
}: {
  readonly request: Pick<IncomingMessage, 'rawHeaders'>;
  readonly credential?: Credential | undefined;
}): string[] {
  const headers = credential?.kind === 'token' ? ['Authorization', `Bearer ${credential.text}`] : [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (IMPERSONATION.test(name)) headers.push(name, rawHeaders[i + 1] ?? '');
  }
  return headers;
}

interface RequestHeaderOptions {
  /** Value of the header `Host`. */
  readonly host: string;
  /** `Audit-ID` of both logs. */
  readonly auditID: string;
  /** IP address of the client, for the audit log of kube-apiserver. */
  readonly source: string | undefined;
  /** Value of the header `Via`; undefined for a request whose headers reach a backend behind kube-apiserver. */
  readonly via: string | undefined;
  /** Names and prefixes of the front proxy's headers, in lower case. They are removed. */
  readonly frontProxy: readonly string[];
  /**
   * Cookies are forwarded at `gateway.proxyHost` only. At other hosts no backend can set a cookie, so that they belong to the sign-in pages
   * or to a console at the same host.
   */
  readonly atProxyHost: boolean;
  /** True if the server traces: the HTTP client adds the header of its own span. */
  readonly isTraced: boolean;
  /** The identity headers. Those of the client are never copied. */
  readonly identity: RawHeaders;
}

/** Returns the headers of the request to kube-apiserver, without `Content-Length`. */
export function requestHeaders(request: IncomingMessage, options: RequestHeaderOptions): string[] {
  const { host, auditID, source, via, frontProxy, atProxyHost, isTraced, identity } = options;
  const { rawHeaders } = request;
  const named = connectionOptions(request);
  const headers = ['Host', host];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i] ?? '';
    const value = rawHeaders[i + 1] ?? '';
    const name = header.toLowerCase();
    if (REPLACED.has(name) || named?.has(name) || IMPERSONATION.test(name)) continue;
    else if (frontProxy.some((prefix) => name.startsWith(prefix))) continue;
    else if (name === 'cookie' && !atProxyHost) continue;
    else if (isTraced && TRACE_HEADERS.has(name)) continue;
    else if (name === 'sec-websocket-protocol') pushProtocols(headers, header, value);
    else headers.push(header, value);
  }
  headers.push('Audit-ID', auditID);
  if (source !== undefined) headers.push('X-Forwarded-For', source);
  if (via !== undefined) headers.push('Via', via);
  headers.push(...identity);
  return headers;
}

/** Returns the names that the `Connection` headers list, in lower case; undefined without any. Node joins several headers. */
export function connectionOptions({
  headers: { connection },
}: Pick<IncomingMessage, 'headers'>): ReadonlySet<string> | undefined {
  if (connection === undefined) return undefined;
  return new Set(connection.split(',').map((name) => name.trim().toLowerCase()));
}

/** Removes the token, which is forwarded in the header Authorization. */
function pushProtocols(headers: string[], name: string, value: string): void {
  const others = value.split(',').filter((protocol) => !isTokenProtocol(protocol));
  if (others.length > 0) headers.push(name, others.join(','));
}
