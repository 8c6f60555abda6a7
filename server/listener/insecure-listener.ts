// Plain-HTTP listener for callers inside the cluster, for a fixed list of paths. The filter chain must treat the
// requests as insecure (`secure: false`).
import { newPathNotFound } from '../../apis/meta/v1/errors.ts';
import { Listener, type ListenerOptions, serverOptions } from './listener.ts';
import { reject, rejectConnection } from './malformed-request.ts';

// Not an import, which would also load the undici of Node.
const { createServer } = process.getBuiltinModule('node:http');

export function newInsecureListener(options: ListenerOptions): Listener {
  const { request, upgrade } = options.receiver;
  return new Listener('insecure', createServer(serverOptions(options.limits)), {
    ...options,
    receiver: {
      request: (message, response) => {
        if (isServedInsecurely(message.url ?? '')) request(message, response);
        else reject(response, newPathNotFound());
      },
      upgrade: (message, socket, head) => {
        if (isServedInsecurely(message.url ?? '')) upgrade(message, socket, head);
        else rejectConnection(socket, newPathNotFound());
      },
    },
  });
}

/** First path segments. `/version` is that of this server: on the TLS listener, the gateway forwards it to kube-apiserver. */
const SERVED = new Set(['oauth', 'account', 'kapis', 'livez', 'readyz', 'healthz', 'version']);

/**
 * Returns true if the plain-HTTP listener serves the undecoded request target. Rejects targets that another parser could read as
 * another path: absolute URLs, and dot segments, also percent-encoded ones.
 */
export function isServedInsecurely(target: string): boolean {
  const path = target.replace(/[?#][^]*$/, '');
  if (path === '/') return true;
  const [root, first = '', ...rest] = path.split('/');
  if (root !== '' || !SERVED.has(first)) return false;
  return rest.every((segment) => !/^(?:\.|%2e){1,2}$/i.test(segment) && !segment.includes('\\'));
}
