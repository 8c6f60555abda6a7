// Selects the requests that the gateway forwards, and parses their RequestInfo, which is that of kube-apiserver. Limits, log, audit
// and caches depend on it, so a target that servers parse differently is rejected instead of being forwarded.
import type { IncomingMessage } from 'node:http';
import { newPathNotFound } from '../../apis/meta/v1/errors.ts';
import type { ProxiedRequest } from '../request/gateway-route.ts';
import { isLongRunning } from '../request/long-running.ts';
import type { RequestContext } from '../request/request-context.ts';
import { parseRequestInfo, type RequestInfo } from '../request/request-info.ts';
import { pathIn } from '../request/request-path.ts';

/** The paths of kube-apiserver. */
const FORWARDED = /^\/(?:apis?(?:\/|$)|openapi\/v[23](?:\/|$)|version\/?$)/;

/** Returns true for a path of kube-apiserver, also if this server handles the request itself. */
export function isKubernetesAPI({ url = '' }: Pick<IncomingMessage, 'url'>): boolean {
  return FORWARDED.test(pathIn(url));
}

/** The part of a proxy path that kube-apiserver interprets. The rest belongs to the backend. */
export const PROXY_PATH = /^\/api\/v1\/(?:namespaces\/[^/]+\/)?(?:pods|services|nodes)\/[^/]+\/proxy(?=\/|$)/;

/** The same for the resources of all groups: aggregated APIs have a subresource `proxy` too. */
const PROXIED = /^\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)\/(?:namespaces\/[^/]+\/)?[^/]+\/[^/]+\/proxy(?=\/|$)/;

/** A deprecated path that kube-apiserver still serves: a watch without the parameter. */
const WATCH_PATH = /^(\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+))\/watch(?=\/)/;

/** Returns a function that returns true for a request to this host name, also with a final dot, at any port. No request is to an empty name. */
export function atHost(name: string): (request: Pick<IncomingMessage, 'headers'>) => boolean {
  if (name === '') return () => false;
  return ({ headers: { host = '' } }) => host.replace(/\.?(?::\d*)?$/, '').toLowerCase() === name;
}

/**
 * Returns a function that returns undefined for a request that this server handles itself. `proxyHost`: the host name that has the pages
 * of backends, and nothing else; empty for none.
 */
export function proxiedRequests(
  ownGroups: readonly string[],
  proxyHost = '',
): (context: Pick<RequestContext, 'request' | 'upgrade'>) => ProxiedRequest | undefined {
  const own = new Set(ownGroups);
  // Most requests for the own groups are recognised without parsing them twice.
  const prefixes = ownGroups.map((group) => `/apis/${group}/`);
  const isAtProxyHost = atHost(proxyHost);
  return (context) => {
    const { method = '', url = '' } = context.request;
    const atProxyHost = isAtProxyHost(context.request);
    if (atProxyHost && !PROXY_PATH.test(pathIn(url))) throw newPathNotFound();
    if (prefixes.some((prefix) => url.startsWith(prefix))) return undefined;
    if (!FORWARDED.test(pathIn(url))) return undefined;
    const info = forwardedInfo(method, url);
    if (own.has(groupOf(info))) return undefined;
    // An accepted upgrade of a subresource is a stream. Any other upgrade gets an ordinary response.
    const isTunnel = context.upgrade !== undefined && info.isResourceRequest && info.subresource !== '';
    return { info, longRunning: isTunnel || isLongRunning({ info }), atProxyHost };
  };
}

/** Throws BadRequest for an ambiguous target. */
function forwardedInfo(method: string, target: string): RequestInfo {
  const path = pathIn(target);
  const [proxy] = PROXIED.exec(path) ?? [];
  const proxied = proxy === undefined ? undefined : parseRequestInfo(method, proxy);
  if (proxied?.isResourceRequest && proxied.subresource === 'proxy') return proxied;
  if (!WATCH_PATH.test(path)) return parseRequestInfo(method, target);
  const watched = parseRequestInfo(method, target.replace(WATCH_PATH, '$1'));
  if (!watched.isResourceRequest) return { ...watched, path };
  // Without selectors, as in kube-apiserver.
  const { labelSelector: _label, fieldSelector: _field, parts, ...rest } = watched;
  return { ...rest, parts, verb: 'watch', name: parts[1] ?? '', path: decodeURIComponent(path) };
}

function groupOf(info: RequestInfo): string {
  if (info.isResourceRequest) return info.prefix === 'apis' ? info.group : '';
  const [, prefix, group = ''] = info.path.split('/');
  return prefix === 'apis' ? group : '';
}
