// Serves /version and /kapis/version, with a response in the format of kube-apiserver (version.Info).
import type { Router } from 'express';
import type { KubernetesVersion, Version } from '../../apis/meta/v1/version.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import { endpoint, newRouter, readOnly } from '../http/endpoint.ts';
import type { Handler, RequestContext } from '../request/request-context.ts';

interface VersionSource {
  /** Semantic version, without a `v`. */
  readonly version: string;
  readonly gitCommit: string;
  /** ISO 8601 timestamp, or empty. */
  readonly buildDate: string;
}

interface VersionOptions {
  readonly source: VersionSource;
  readonly kubernetes: { current(): Promise<KubernetesVersion | undefined> };
  readonly authorizer: Authorizer;
}

export function versionRouter(options: VersionOptions): Router {
  const router = newRouter();
  const handler = versionHandler(options);
  router.route(['/version', '/kapis/version']).get(endpoint(handler)).all(readOnly);
  return router;
}

/**
 * Returns the handler. Clients expect `goVersion` and `compiler`, so the response has both, although they have no
 * meaning here. `nodeVersion` and `kubernetes` are additional fields.
 */
export function versionHandler({ source, kubernetes, authorizer }: VersionOptions): Handler {
  const [major = '', minor = ''] = source.version.split('.');
  const own = {
    major,
    minor,
    gitVersion: `v${source.version}`,
    gitCommit: source.gitCommit,
    gitTreeState: source.gitCommit === '' ? '' : 'clean',
    buildDate: source.buildDate,
    goVersion: '',
    compiler: 'node',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
    nodeVersion: process.version,
  } satisfies Version;
  return async (context) => {
    const cluster = (await mayRead(context, authorizer)) ? await kubernetes.current() : undefined;
    const body = Buffer.from(
      JSON.stringify({ ...own, ...(cluster ? { kubernetes: cluster } : {}) } satisfies Version),
    );
    const { response } = context;
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-cache, private',
      'Content-Length': body.length,
    });
    response.end(body);
  };
}

/** Returns true if kube-apiserver would return its version to the caller. */
async function mayRead(context: RequestContext, authorizer: Authorizer): Promise<boolean> {
  // The path of kube-apiserver with a slash, because /version of this server is public.
  const attributes = { user: context.user, verb: 'get', path: '/version/' };
  try {
    return (await authorizer.authorize(attributes, context)).allowed;
  } catch {
    context.signal.throwIfAborted();
    // The own version is available while the cluster is not.
    return false;
  }
}
