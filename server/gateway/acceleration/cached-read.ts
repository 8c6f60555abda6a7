// Decides for a read of the Kubernetes API how fresh a cache must be to serve it, or why only kube-apiserver can serve it.
import { decodeContinue } from '../../../apis/meta/v1/continue-token.ts';
import { StatusError } from '../../../apis/meta/v1/errors.ts';
import {
  type ListOptions,
  readListOptions,
  readResourceVersion,
} from '../../../apis/meta/v1/list-options.ts';
import type { ResourceRequest } from '../../request/request-info.ts';

/** The state that the response must contain. */
export type Requirement =
  /** Any state, however old (resourceVersion 0). */
  | { readonly freshness: 'any' }
  /** The state at this resourceVersion or a later one. */
  | { readonly freshness: 'notOlderThan'; readonly version: string }
  /** Exactly the state at this resourceVersion: a further page of a list. */
  | { readonly freshness: 'exact'; readonly version: string }
  /** The state at the arrival of the request or a later one. `limit`: maximum number of objects; 0 for all. */
  | { readonly freshness: 'current'; readonly limit: number };

/** Why the gateway forwards a read, as in the header `Cache-Status` and in metrics. */
const REASONS = [
  'kind',
  'no-cache',
  'parameter',
  'continue',
  'exact',
  'current-get',
  'media-type',
  'columns',
  'values',
  'identity',
  'permission',
  'behind',
  'absent',
  'quiet',
  'expired',
  'pages',
  'error',
] as const;
export type Reason = (typeof REASONS)[number];

/** kube-apiserver ignores unknown parameters, but a later version may know them. */
const PARAMETERS: ReadonlySet<string> = new Set([
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'includeObject',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
  'watch',
]);

const PARAMETERS_OF_MEDIA = [
  String.raw`g\s*=\s*meta\.k8s\.io`,
  String.raw`v\s*=\s*v1(?:beta1)?`,
  String.raw`stream\s*=\s*watch`,
  String.raw`charset\s*=\s*utf-8`,
  String.raw`q\s*=\s*(?:1(?:\.0{1,3})?|0\.0{0,2}[1-9]\d{0,2})`,
];

/** A clause of `Accept` as known clients send it. kube-apiserver ignores types of `text` and `image`, as the cache does. */
function clauseWith(kinds: string): RegExp {
  const type = String.raw`\*/\*|application/(?:json|vnd\.kubernetes\.protobuf)|(?:text|image)/[\w.+-]+`;
  const parameter = [String.raw`as\s*=\s*(?:${kinds})`, ...PARAMETERS_OF_MEDIA].join('|');
  return new RegExp(String.raw`^\s*(?:${type})\s*(?:;\s*(?:${parameter})\s*)*$`);
}

const CLAUSE_OF_LIST = clauseWith('Table|PartialObjectMetadataList');
const CLAUSE_OF_ONE = clauseWith('Table|PartialObjectMetadata');

/**
 * Returns true if the cache reads the header `Accept` as kube-apiserver does. kube-apiserver has more media types,
 * rejects some wildcards, and reads some qualities as 1.
 */
export function isKnownMedia({ verb }: Pick<ResourceRequest, 'verb'>, accept: string): boolean {
  const clause = verb === 'list' ? CLAUSE_OF_LIST : CLAUSE_OF_ONE;
  return accept === '' || accept.split(',').every((one) => clause.test(one));
}

/** Returns the requirement of a get, list or watch, or the reason why a cache cannot serve it. */
export function requirementOf({ verb }: ResourceRequest, query: URLSearchParams): Requirement | Reason {
  const names = [...query.keys()];
  // kube-apiserver uses the first of several values, but a client that sends several has a purpose.
  if (new Set(names).size < names.length || names.some((name) => !PARAMETERS.has(name))) return 'parameter';
  try {
    if (verb === 'get') return ofGet(readResourceVersion(query));
    const options = readListOptions(query, verb === 'watch');
    return verb === 'watch' ? ofWatch(options) : ofList(options);
  } catch (error) {
    if (error instanceof StatusError) return 'parameter';
    throw error;
  }
}

/** A get without a resourceVersion reads one object from etcd, which costs less than the proof that a cache is current. */
function ofGet(version: string): Requirement | Reason {
  return version === '' ? 'current-get' : atLeast(version);
}

function ofList(options: ListOptions): Requirement | Reason {
  const { resourceVersion: version, resourceVersionMatch: match, limit } = options;
  if (options.continue !== '') return ofPage(options);
  const isExact = match === 'Exact' || (match === '' && limit > 0 && version !== '' && version !== '0');
  return isExact ? 'exact' : atLeast(version, limit);
}

function ofPage(options: ListOptions): Requirement | Reason {
  const { resourceVersion: version } = decodeContinue(options.continue);
  // kube-apiserver returns a token without a version for an expired list. Only a client that accepts inconsistent pages uses it.
  if (version.startsWith('-') || options.resourceVersion !== '') return 'continue';
  return { freshness: 'exact', version };
}

function ofWatch({ resourceVersion: version, sendInitialEvents }: ListOptions): Requirement | Reason {
  // The state now is the start of such a watch, but not a part of it.
  if (version === '' && sendInitialEvents !== true) return 'parameter';
  return atLeast(version);
}

function atLeast(version: string, limit = 0): Requirement {
  if (version === '') return { freshness: 'current', limit };
  return version === '0' ? { freshness: 'any' } : { freshness: 'notOlderThan', version };
}
