// Responds to the log operations that release 3.3 of the API removed, with every method that they had: 410 with a message
// that names the replacement.
import { newGone, newMethodNotAllowed } from '../../../apis/meta/v1/errors.ts';
import type { Handler, RequestContext } from '../../request/request-context.ts';

/** Resources of the removed operations. */
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
  return (context) => {
    const { info } = context;
    // Only the settings of the collector had other methods.
    const isSettings = info.isResourceRequest && info.resource === 'fluentbit';
    if (!isSettings) requireRead(context);
    const alternative = isSettings
      ? 'configure the collection of logs with the custom resources of its operator'
      : `use GET ${path} with the parameters namespaces, workloads, pods and containers, and times in whole seconds`;
    throw newGone(`this operation was removed in release 3.3: ${alternative}`);
  };
}

/** Throws MethodNotAllowed for any method but GET and HEAD. */
function requireRead({ request, response }: RequestContext): void {
  const { method = '' } = request;
  if (method === 'GET' || method === 'HEAD') return;
  response.setHeader('Allow', 'GET, HEAD');
  throw newMethodNotAllowed(method);
}
