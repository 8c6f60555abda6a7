// RequestInfo: verb, group, version, resource, namespace and name of a request, as in kube-apiserver.
import { newBadRequest } from '../../apis/meta/v1/errors.ts';
import { areDecodable } from '../../apis/meta/v1/list-options.ts';
import { isPathSegmentName } from '../../apis/meta/v1/path-segment-name.ts';
import { parseLooseBoolean } from '../../apis/reading/go-number.ts';
import { parseRequestPath, type RequestPath } from './request-path.ts';

/** The attributes of a request. Routing and authorization use the same object, so they cannot disagree. */
export type RequestInfo = ResourceRequest | NonResourceRequest;

/** The verbs of read requests. */
export const READ_VERBS: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'head', 'options']);

export interface ResourceRequest {
  readonly isResourceRequest: true;
  /** Decoded, for logs and metrics only. */
  readonly path: string;
  readonly prefix: ApiPrefix;
  readonly group: string;
  readonly version: string;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; empty for other methods. */
  readonly verb: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  /** For lists and watches, the name in `fieldSelector`, as in kube-apiserver. */
  readonly name: string;
  /** For lists and watches of the Kubernetes API, the selectors of the query. */
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Decoded segments from the resource on: [resource, name, subresource, …]. */
  readonly parts: readonly string[];
}

interface NonResourceRequest {
  readonly isResourceRequest: false;
  readonly path: string;
  /** The HTTP method in lower case. */
  readonly verb: string;
}

type ApiPrefix = 'api' | 'apis' | 'kapis';

const VERBS: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Subresources of a namespace. */
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

/** Parses a request. Throws BadRequest for an ambiguous target. */
export function parseRequestInfo(method: string, target: string): RequestInfo {
  const parsed = parseRequestPath(target);
  const { path } = parsed;
  // As in kube-apiserver, one trailing slash is ignored.
  const segments = parsed.segments.at(-1) === '' ? parsed.segments.slice(0, -1) : parsed.segments;
  const prefix = apiPrefix(segments[0]);
  if (prefix === undefined) return nonResource(method, path);
  const first = prefix === 'api' ? 2 : 3;
  if (segments.length <= first) return nonResource(method, path);
  const start = first + namespaceSegments(segments, first);
  const resource = segments[start] ?? '';
  if (resource === 'watch' || resource === 'proxy') {
    throw newBadRequest(`the path prefix ${resource}/ is no longer served; use a parameter or a subresource`);
  }
  const parts = segments.slice(start);
  const named = parts[1] ?? '';
  const verb = refine(VERBS[method] ?? '', named, parsed);
  return {
    isResourceRequest: true,
    path,
    prefix,
    group: prefix === 'api' ? '' : (segments[1] ?? ''),
    version: segments[first - 1] ?? '',
    verb,
    namespace: segments[first] === 'namespaces' ? (segments[first + 1] ?? '') : '',
    resource,
    subresource: parts[2] ?? '',
    // Handlers under /kapis check the permissions for selectors themselves.
    ...(named === '' && prefix !== 'kapis' && isList(verb)
      ? attributesOfList(parsed.search)
      : { name: named }),
    parts,
  };
}

function apiPrefix(segment: string | undefined): ApiPrefix | undefined {
  return segment === 'apis' || segment === 'api' || segment === 'kapis' ? segment : undefined;
}

function nonResource(method: string, path: string): NonResourceRequest {
  return { isResourceRequest: false, path, verb: method.toLowerCase() };
}

/** Returns 2 if `namespaces/{namespace}` precedes a namespaced resource, else 0. */
function namespaceSegments(segments: readonly string[], first: number): number {
  if (segments[first] !== 'namespaces') return 0;
  const behind = segments[first + 2];
  return behind !== undefined && !NAMESPACE_SUBRESOURCES.has(behind) ? 2 : 0;
}

function refine(verb: string, name: string, { search }: RequestPath): string {
  if (name !== '') return verb;
  if (verb === 'delete') return 'deletecollection';
  if (verb !== 'get') return verb;
  // Without a parser, unless the name may be escaped.
  if (!search.includes('watch') && !search.includes('%')) return 'list';
  const watch = new URLSearchParams(search).get('watch');
  return watch !== null && parseLooseBoolean(watch) ? 'watch' : 'list';
}

function isList(verb: string): boolean {
  return verb === 'list' || verb === 'watch';
}

/** The part of the attributes that the selectors of a list determine. */
type Selected = Pick<ResourceRequest, 'name' | 'labelSelector' | 'fieldSelector'>;

/** As in kube-apiserver, a list with an undecodable parameter selects no name. */
function attributesOfList(search: string): Selected {
  const selected = selectedBy(search);
  const isNamed = selected.name !== '' && areDecodable(new URLSearchParams(search));
  return isNamed ? selected : { ...selected, name: '' };
}

/** Returns the selectors of a list, and the name that they select; as in kube-apiserver. `search`: the query string. */
export function selectedBy(search: string): Selected {
  if (!search.includes('Selector')) return NOT_SELECTED;
  const query = new URLSearchParams(search);
  const labelSelector = query.get('labelSelector');
  const fieldSelector = query.get('fieldSelector');
  return {
    name: selectedName(fieldSelector ?? ''),
    ...(labelSelector ? { labelSelector } : {}),
    ...(fieldSelector ? { fieldSelector } : {}),
  };
}

const NOT_SELECTED: Selected = { name: '' };

/**
 * Returns the name that a field selector selects, or an empty string. The caller then needs permission for this name only, so the
 * result must not contain objects of other names. Therefore a selector with escapes is ignored.
 */
function selectedName(selector: string): string {
  if (selector.includes('\\')) return '';
  for (const term of selector.split(',')) {
    const match = /^metadata\.name==?(.*)$/s.exec(term);
    if (!match) continue;
    const name = match[1] ?? '';
    return isPathSegmentName(name) && !/[=!]/.test(name) ? name : '';
  }
  return '';
}
