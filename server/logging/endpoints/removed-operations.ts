// Rejects log operations that release 3.3 of the API removed. The response is 410 with the alternative.
import { newGone, newMethodNotAllowed, newPathNotFound } from '../../../apis/meta/v1/errors.ts';
import type { Handler } from '../../request/request-context.ts';
import type { ResourceRequest } from '../../request/request-info.ts';

/** Resources of removed operations: the first segments of their paths. */
export const REMOVED_RESOURCES = [
  'cluster',
  'workspaces',
  'namespaces',
  'workloads',
  'pods',
  'fluentbit',
] as const;

/** `path`: of log queries, for instance `/kapis/logging.platform.io/v1alpha2/logs`. */
export function removedOperations(path: string): Handler {
  return ({ info, request, response }) => {
    if (!info.isResourceRequest) throw newPathNotFound();
    const alternative = alternativeTo(info, path);
    if (alternative === undefined) throw newPathNotFound();
    // The log settings also had write operations.
    if (info.resource !== 'fluentbit' && request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      throw newMethodNotAllowed(request.method ?? '');
    }
    throw newGone(`this operation was removed in release 3.3: ${alternative}`);
  };
}

/** Undefined for a path that was never an operation. */
function alternativeTo({ resource, namespace, parts }: ResourceRequest, path: string): string | undefined {
  const [, name, below, last, ...more] = parts;
  const query = (parameters: Readonly<Record<string, string>>): string =>
    `use GET ${path}?${new URLSearchParams(parameters).toString()}, with times in whole seconds`;
  switch (resource) {
    case 'cluster':
      return parts.length === 1 ? `use GET ${path}, with times in whole seconds` : undefined;
    case 'workspaces':
      return parts.length === 2
        ? `use GET ${path} with namespaces=, the namespaces of the workspace`
        : undefined;
    case 'namespaces':
      return parts.length === 2 ? query({ namespaces: name ?? '' }) : undefined;
    case 'workloads':
      return namespace !== '' && parts.length === 2
        ? query({ namespaces: namespace, workloads: name ?? '' })
        : undefined;
    case 'pods':
      if (namespace === '' || name === undefined || more.length > 0) return undefined;
      if (below === undefined) return query({ namespaces: namespace, pods: name });
      return below === 'containers' && last !== undefined
        ? query({ namespaces: namespace, pods: name, containers: last })
        : undefined;
    case 'fluentbit':
      return name === 'outputs' && parts.length <= 3
        ? 'configure the collection of logs with the custom resources of its operator'
        : undefined;
    default:
      return undefined;
  }
}
