// Serves /version, with a response in the format of kube-apiserver (version.Info).
import type { Version } from '../../apis/meta/v1/version.ts';
import type { Handler } from '../request/request-context.ts';
import { requireRead } from './static-document.ts';

export interface VersionSource {
  /** Semantic version, without a `v`. */
  readonly version: string;
  readonly gitCommit: string;
  /** ISO 8601 timestamp, or empty. */
  readonly buildDate: string;
}

/**
 * Returns the handler. Clients expect `goVersion` and `compiler`, so the response has both, although they have no
 * meaning here. `nodeVersion` is an additional field.
 */
export function versionHandler(source: VersionSource): Handler {
  const [major = '', minor = ''] = source.version.split('.');
  const body = Buffer.from(
    JSON.stringify({
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
    } satisfies Version),
  );
  return (context) => {
    requireRead(context);
    const { response } = context;
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-cache, private',
      'Content-Length': body.length,
    });
    response.end(body);
  };
}
