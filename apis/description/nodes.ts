import { Type } from 'typebox';
import { CACHE_BUSTERS } from '../meta/v1/query-decoder.ts';
import { groupName, VERSION } from '../resources/v1alpha3/group-version.ts';
import { NodeQuerySchema } from '../resources/v1alpha3/node-query.ts';
import { errors, type Operation } from './operation.ts';
import { COMMON_ERRORS, SIGNED_IN } from './refusals.ts';

const TAG = 'nodes';
const headers = {
  'If-None-Match': Type.Optional(Type.String({ description: 'The ETag of the answer that the caller has.' })),
};
const tagged = {
  ETag: { description: 'Names this state of the answer.', schema: { type: 'string' } },
};
const unchanged = { 304: { description: 'What the caller has is still right.', headers: tagged } };
const ignored = Object.fromEntries(
  CACHE_BUSTERS.map((name) => [
    name,
    Type.Optional(Type.String({ description: 'Ignored: callers append it so that no cache answers.' })),
  ]),
);

/** The node list for consoles. */
export function nodeOperations(platform: string): Operation[] {
  const list = `/kapis/${groupName(platform)}/${VERSION}/nodes`;
  const ask = { tag: TAG, headers, security: SIGNED_IN };
  const refused = errors({ ...COMMON_ERRORS, 406: 'Only JSON is written.' }, 'Status');
  const absent = errors({ 404: 'There is no such node.' }, 'Status');
  const all = {
    ...ask,
    path: list,
    summary: 'Nodes, searched, filtered, sorted and in pages',
    description: 'All that is asked for must hold. Needs the right to list nodes of this group.',
    query: Type.Object({ ...NodeQuerySchema.properties, ...ignored }),
  };
  const one = {
    ...ask,
    path: `${list}/{name}`,
    summary: 'One node',
    query: Type.Object(ignored),
    description: 'Needs the right to get nodes of this group.',
    segments: { name: Type.String({ pattern: '^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$' }) },
  };
  const found = (description: string, schema: string) => ({
    200: { description, type: 'application/json', schema, headers: tagged },
  });
  const head = { 200: { description: 'Headers of the answer to GET.', headers: tagged } };
  return [
    {
      ...all,
      method: 'get',
      id: 'listNodes',
      answers: { ...found('A page.', 'NodeList'), ...unchanged, ...refused },
    },
    { ...all, method: 'head', id: 'headNodes', answers: { ...head, ...unchanged, ...refused } },
    {
      ...one,
      method: 'get',
      id: 'getNode',
      answers: { ...found('The node.', 'Node'), ...unchanged, ...refused, ...absent },
    },
    { ...one, method: 'head', id: 'headNode', answers: { ...head, ...unchanged, ...refused, ...absent } },
  ];
}
