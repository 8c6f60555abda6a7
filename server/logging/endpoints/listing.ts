// Who asks for logs as one lists objects: `kubectl get` without --raw, and programs that list whatever discovery names.
import { newBadRequest } from '../../../apis/meta/v1/errors.ts';
import { parseAccept } from '../../endpoints/accept.ts';
import type { RequestContext } from '../../request/request-context.ts';

/** Of `meta.k8s.io/v1`, without `watch`, which may stand at any query. */
const LIST_OPTIONS: ReadonlySet<string> = new Set([
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
]);

/** Throws BadRequest with what to ask instead; each parameter by itself would be refused with another name for it. */
export function refuseListing({ info, request, query }: RequestContext): void {
  if (!info.isResourceRequest || info.prefix !== 'apis') return;
  if (!isForm(request.headers.accept) && !isOfListOptions(query)) return;
  const path = `/apis/${info.group}/${info.version}/${info.resource}`;
  throw newBadRequest(
    `${info.resource} are queried, and cannot be listed as objects; try: kubectl get --raw '${path}?size=10'`,
  );
}

/** Whether a table or the metadata of objects is wanted. */
function isForm(accept: string | undefined): boolean {
  return accept !== undefined && parseAccept(accept).some(({ parameters }) => parameters.has('as'));
}

function isOfListOptions(query: URLSearchParams): boolean {
  const names = [...query.keys()].filter((name) => name !== 'watch');
  return names.length > 0 && names.every((name) => LIST_OPTIONS.has(name));
}
