// The OpenAPI description of the node list for consoles.
import { Type } from 'typebox';
import { CACHE_BUSTERS } from '../meta/v1/query-decoder.ts';
import { groupName, VERSION } from '../resources/v1alpha3/group-version.ts';
import { NodeQuerySchema } from '../resources/v1alpha3/node-query.ts';
import { AUTHENTICATED, COMMON_ERRORS } from './filter-chain-errors.ts';
import { errors, type Operation } from './operation.ts';

const TAG = 'nodes';
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

/** Returns the operations on nodes. */
export function nodeOperations(platform: string): Operation[] {
  const list = `/kapis/${groupName(platform)}/${VERSION}/nodes`;
  const common = { tag: TAG, headers, security: AUTHENTICATED };
  const chainErrors = errors({ ...COMMON_ERRORS, 406: 'Only JSON is available.' }, 'Status');
  const absent = errors({ 404: 'The node does not exist.' }, 'Status');
  const all = {
    ...common,
    path: list,
    summary: 'Lists nodes: search, filters, sorting and pages',
    description: 'All filters must match. Requires permission to list nodes of this group.',
    query: Type.Object({ ...NodeQuerySchema.properties, ...ignored }),
  };
  const one = {
    ...common,
    path: `${list}/{name}`,
    summary: 'Returns a node',
    query: Type.Object(ignored),
    description: 'Requires permission to get nodes of this group.',
    segments: { name: Type.String({ pattern: '^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$' }) },
  };
  const found = (description: string, schema: string) => ({
    200: { description, type: 'application/json', schema, headers: tagged },
  });
  const head = { 200: { description: 'The headers of GET.', headers: tagged } };
  return [
    {
      ...all,
      method: 'get',
      id: 'listNodes',
      responses: { ...found('A page.', 'NodeList'), ...unchanged, ...chainErrors },
    },
    { ...all, method: 'head', id: 'headNodes', responses: { ...head, ...unchanged, ...chainErrors } },
    {
      ...one,
      method: 'get',
      id: 'getNode',
      responses: { ...found('The node.', 'Node'), ...unchanged, ...chainErrors, ...absent },
    },
    {
      ...one,
      method: 'head',
      id: 'headNode',
      responses: { ...head, ...unchanged, ...chainErrors, ...absent },
    },
  ];
}
