// OpenAPI operations of the lists under `/kapis`. The kind is a path parameter, because the kinds depend on the
// cluster.
import type { TSchema } from 'typebox';
import { CACHE_BUSTERS } from '../meta/v1/query-decoder.ts';
import { Type } from '../reading/json-schema.ts';
import { groupName, VERSION } from '../resources/v1alpha3/group-version.ts';
import { AnyKindQuerySchema } from '../resources/v1alpha3/resource-query.ts';
import { SearchQuerySchema } from '../resources/v1alpha3/search-query.ts';
import { AUTHENTICATED, COMMON_ERRORS } from './filter-chain-errors.ts';
import { errors, type Operation } from './operation.ts';

const TAG = 'resources';
const headers = {
  'If-None-Match': Type.Optional(Type.String({ description: 'The ETag of a cached response.' })),
};
const tagged = {
  ETag: { description: 'The entity tag of the response.', schema: { type: 'string' } },
};
const unchanged = { 304: { description: 'The cached response is current.', headers: tagged } };
const ignored = Object.fromEntries(
  CACHE_BUSTERS.map((name) => [
    name,
    Type.Optional(Type.String({ description: 'Ignored: a cache-buster.' })),
  ]),
);
const resource = Type.String({
  pattern: '^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$',
  description:
    'The plural of the kind, for instance `pods`, or `plural.group`, for instance `deployments.apps`.',
});
const name = Type.String({ pattern: '^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$' });
const namespace = Type.String({ pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$' });
const UNAVAILABLE = {
  404: 'The kind does not exist, or is not served.',
  406: 'Only JSON and Server-Sent Events are available.',
};

/** Returns the operations of platform lists. */
export function resourceOperations(platform: string): Operation[] {
  const base = `/kapis/${groupName(platform)}/${VERSION}`;
  const search = {
    tag: TAG,
    security: AUTHENTICATED,
    path: `${base}/search`,
    summary: 'Searches for a text in all kinds',
    description:
      'Returns the best matches of each kind, in the namespaces in which the caller may list the kind.',
    query: Type.Object({ ...SearchQuerySchema.properties, ...ignored }),
  };
  const searchErrors = errors({ ...COMMON_ERRORS, 406: 'Only JSON is available.' }, 'Status');
  return [
    ...operations(`${base}/{resource}`, { resource }, 'Resources', 'the objects of a kind'),
    ...operations(
      `${base}/namespaces/{namespace}/{resource}`,
      { namespace, resource },
      'NamespacedResources',
      'the objects of a kind in a namespace',
    ),
    {
      ...search,
      method: 'get',
      id: 'searchResources',
      responses: {
        200: { description: 'The matches.', type: 'application/json', schema: 'SearchResult' },
        ...searchErrors,
      },
    },
    {
      ...search,
      method: 'head',
      id: 'headSearch',
      responses: { 200: { description: 'The headers of GET.' }, ...searchErrors },
    },
  ];
}

function operations(
  path: string,
  segments: Readonly<Record<string, TSchema>>,
  suffix: string,
  what: string,
): Operation[] {
  const common = { tag: TAG, headers, security: AUTHENTICATED };
  const chainErrors = errors({ ...COMMON_ERRORS, ...UNAVAILABLE }, 'Status');
  const all = {
    ...common,
    path,
    segments,
    summary: `Lists ${what}: search, filters, sorting and pages`,
    description:
      'All filters must match. Requires permission to list the kind; without it for the whole cluster, the list has the objects of the namespaces in which the caller has it. With `Accept: text/event-stream`, the server sends the page again when it changes.',
    query: Type.Object({ ...AnyKindQuerySchema.properties, ...ignored }),
  };
  const one = {
    ...common,
    path: `${path}/{name}`,
    segments: { ...segments, name },
    summary: 'Returns an object',
    description: 'Requires permission to get the object.',
    query: Type.Object(ignored),
  };
  const page = {
    200: {
      description: 'A page.',
      type: 'application/json',
      schema: 'ResourceList',
      furtherTypes: ['text/event-stream'],
      headers: tagged,
    },
  };
  const found = {
    200: { description: 'The object.', type: 'application/json', schema: 'Resource', headers: tagged },
  };
  const head = { 200: { description: 'The headers of GET.', headers: tagged } };
  return [
    { ...all, method: 'get', id: `list${suffix}`, responses: { ...page, ...unchanged, ...chainErrors } },
    { ...all, method: 'head', id: `headList${suffix}`, responses: { ...head, ...unchanged, ...chainErrors } },
    { ...one, method: 'get', id: `get${suffix}`, responses: { ...found, ...unchanged, ...chainErrors } },
    { ...one, method: 'head', id: `head${suffix}`, responses: { ...head, ...unchanged, ...chainErrors } },
  ];
}
