// Selects the requests that the gateway forwards, and parses their RequestInfo for logs and limits. kube-apiserver
// authorizes them, so an ambiguous path is forwarded unchanged instead of being rejected.
import type { IncomingMessage } from 'node:http';
import { newPathNotFound, StatusError } from '../../apis/meta/v1/errors.ts';
import type { ProxiedRequest } from '../request/gateway-route.ts';
import { isLongRunning } from '../request/long-running.ts';
import type { RequestContext } from '../request/request-context.ts';
import { parseRequestInfo, type RequestInfo } from '../request/request-info.ts';
import { pathIn } from '../request/request-path.ts';

/** The paths of kube-apiserver. */
const FORWARDED = /^\/(?:apis?(?:\/|$)|openapi\/v[23](?:\/|$)|version\/?$)/;

/** The part of a proxy path that kube-apiserver interprets. The rest belongs to the backend. */
export const PROXY_PATH = /^\/api\/v1\/(?:namespaces\/[^/]+\/)?(?:pods|services|nodes)\/[^/]+\/proxy(?=\/|$)/;

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
    const path = pathIn(url);
    if (!FORWARDED.test(path)) return undefined;
    const [proxy] = PROXY_PATH.exec(path) ?? [];
    const info = parsed(method, proxy ?? url);
    if (!info) {
      if (atProxyHost) throw newPathNotFound();
      // Without attributes, the request may be a stream.
      return {
        info: { isResourceRequest: false, path, verb: method.toLowerCase() },
        longRunning: true,
        atProxyHost,
      };
    }
    if (own.has(groupOf(info))) return undefined;
    const { upgrade } = context;
    return { info, longRunning: upgrade !== undefined || isLongRunning({ info, upgrade }), atProxyHost };
  };
}

/** Returns undefined for an ambiguous target. */
function parsed(method: string, target: string): RequestInfo | undefined {
  try {
    return parseRequestInfo(method, target);
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

function groupOf(info: RequestInfo): string {
  if (info.isResourceRequest) return info.prefix === 'apis' ? info.group : '';
  const [, prefix, group = ''] = info.path.split('/');
  return prefix === 'apis' ? group : '';
}
