// The verb list: writes one page of objects from a snapshot of the informer cache. The parameters have the semantics
// of kube-apiserver.
import { decodeContinue, encodeContinue } from '../../apis/meta/v1/continue-token.ts';
import {
  isExpired,
  newBadRequest,
  newExpired,
  newExpiredPage,
  type StatusError,
} from '../../apis/meta/v1/errors.ts';
import type { FieldRequirement } from '../../apis/meta/v1/field-selector.ts';
import { type ListOptions, readListOptions } from '../../apis/meta/v1/list-options.ts';
import { isPathSegmentName } from '../../apis/meta/v1/path-segment-name.ts';
import type { ListMeta } from '../../apis/meta/v1/table.ts';
import type { CachedObject, ResourceCache, Snapshot } from '../cache/resource-cache.ts';
import type { TimeSlicer, TimeSlices } from '../concurrency/time-slicer.ts';
import type { BodyHeaders } from '../http/response-writer.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { ResourceDefinition } from '../resources/resource-definition.ts';
import { Selection } from '../resources/selection.ts';
import { writeItems, writePieces } from './list-body.ts';
import { Objects, type Representation } from './representation.ts';
import { Tables } from './tables.ts';

export interface ListRequest<Facts> {
  readonly definition: ResourceDefinition<Facts>;
  readonly cache: ResourceCache<Facts>;
  readonly representation: Representation<Facts>;
  readonly pretty: boolean;
  readonly namespace: string;
  readonly headers: BodyHeaders;
  readonly slicer: TimeSlicer;
  /**
   * True if kube-apiserver can serve the list instead: a list at resourceVersion 0 ignores the limit, as the watch cache of
   * kube-apiserver does, and a full page of a list with selectors throws PagedListError, because it depends on the indexes of
   * kube-apiserver whether such a page has a continue token.
   */
  readonly forwardable: boolean;
  /** See ResourceHandlerOptions. */
  readonly current?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

/** The list has selectors and reaches its limit. */
export class PagedListError extends Error {}

/** Messages of kube-apiserver. */
const PAGE_EXPIRED =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
  'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
  'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
  'deleted between the time the first chunk was returned and now may show up in the list.';
const LIST_EXPIRED = 'The resourceVersion for the provided list is too old.';

export async function list<Facts>(context: RequestContext, request: ListRequest<Facts>): Promise<void> {
  const { cache, representation } = request;
  const options = readListOptions(context.query, false);
  const { namespace } = request;
  const isTable = representation instanceof Tables;
  const selection = new Selection(request.definition, options, namespace, isTable);
  if (options.resourceVersion === '' && options.continue === '') await request.current?.(context.signal);
  const start = await startOf(cache, options, namespace, context.signal);
  const limit = request.forwardable && options.resourceVersion === '0' ? 0 : options.limit;
  const whole = selection.everything && limit === 0 && start.after === undefined;
  const { snapshot } = start;
  if (whole && representation instanceof Objects && !request.pretty) {
    const frame = representation.list({ resourceVersion: snapshot.resourceVersion });
    return writePieces(context, frame, snapshot.pieces(), request.headers);
  }
  const slices = request.slicer.of(context);
  const page = await pageOf(snapshot, selection, { limit, after: start.after }, slices);
  if (request.forwardable && limit > 0 && page.objects.length === limit && !selection.countable) {
    throw new PagedListError('a list with selectors reaches its limit');
  }
  return writeItems(context, request, page.meta, page.objects);
}

interface Start<Facts> {
  readonly snapshot: Snapshot<Facts>;
  /** Key after which the page starts; undefined for the first page. */
  readonly after: string | undefined;
}

/** Returns the snapshot at exactly this version. `gone` creates the error if the history no longer has the version. */
function exactly<Facts>(
  cache: ResourceCache<Facts>,
  resourceVersion: string,
  gone: () => StatusError,
): Snapshot<Facts> {
  try {
    return cache.snapshotAt(resourceVersion);
  } catch (error) {
    throw isExpired(error) ? gone() : error;
  }
}

function expiredPage(after: string): StatusError {
  return newExpiredPage(PAGE_EXPIRED, encodeContinue({ resourceVersion: '-1', after }));
}

async function startOf<Facts>(
  cache: ResourceCache<Facts>,
  options: ListOptions,
  namespace: string,
  signal: AbortSignal,
): Promise<Start<Facts>> {
  const { resourceVersion } = options;
  const given = resourceVersion !== '' && resourceVersion !== '0';
  if (options.continue !== '') {
    const token = decodeContinue(options.continue);
    if (given) throw newBadRequest('specifying resource version is not allowed when using continue');
    // The key in a token is relative to the path of the list.
    const after = namespace === '' ? token.after : `${namespace}/${token.after}`;
    if (token.resourceVersion.startsWith('-')) return { snapshot: cache.snapshot(), after };
    // The previous page can be from another replica with a newer cache.
    await cache.waitUntil(token.resourceVersion, signal);
    return {
      snapshot: exactly(cache, token.resourceVersion, () => expiredPage(token.after)),
      after,
    };
  }
  if (given) await cache.waitUntil(resourceVersion, signal);
  // As in kube-apiserver, a limit and a resourceVersion without resourceVersionMatch mean Exact, unless the field
  // selector selects one object by a valid name.
  const exact =
    options.resourceVersionMatch === 'Exact' ||
    (given &&
      options.limit > 0 &&
      options.resourceVersionMatch === '' &&
      !isPathSegmentName(options.fieldSelector.find(isName)?.value ?? ''));
  return {
    snapshot: exact ? exactly(cache, resourceVersion, () => newExpired(LIST_EXPIRED)) : cache.snapshot(),
    after: undefined,
  };
}

function isName({ field, equal }: FieldRequirement): boolean {
  return field === 'metadata.name' && equal;
}

interface Page<Facts> {
  readonly meta: ListMeta;
  readonly objects: readonly CachedObject<Facts>[];
}

/** Returns a page of at most `limit` objects, with a continue token if further objects are selected. */
async function pageOf<Facts>(
  snapshot: Snapshot<Facts>,
  selection: Selection<Facts>,
  { limit, after = '' }: { readonly limit: number; readonly after: string | undefined },
  slices: TimeSlices,
): Promise<Page<Facts>> {
  const { resourceVersion } = snapshot;
  const objects: CachedObject<Facts>[] = [];
  let isLast = true;
  for (const object of selection.candidates(snapshot, after)) {
    // Also after an object that is not selected: most of the time is for these.
    if (slices.spent) await slices.next();
    if (!selection.matches(object)) continue;
    if (limit > 0 && objects.length === limit) {
      isLast = false;
      break;
    }
    objects.push(object);
  }
  const last = objects.at(-1);
  if (isLast || !last) return { meta: { resourceVersion }, objects };
  const { namespace } = selection;
  const key = namespace === '' ? last.key : last.name;
  const token = encodeContinue({ resourceVersion, after: key });
  const count = selection.countable ? { remainingItemCount: snapshot.count(namespace, last.key) } : {};
  return { meta: { resourceVersion, continue: token, ...count }, objects };
}
