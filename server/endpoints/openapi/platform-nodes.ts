// The node list of the platform as OpenAPI 3.1: its parameters are the schema that checks them.
import { CACHE_BUSTERS, NodeQuerySchema } from '../../../apis/resources/v1alpha3/node-query.ts';
import { record } from '../../resources/read.ts';
import { type Description, ETAG, IF_NONE_MATCH, refusals, UNCHANGED } from './platform-answers.ts';

const NODE = { $ref: '#/components/schemas/Node' } as const;
const TAG = 'nodes';

/** `group` is `resources.<platform>.io`. */
export function nodePaths(group: string): Description {
  const path = `/kapis/${group}/v1alpha3/nodes`;
  const name = {
    name: 'name',
    in: 'path',
    required: true,
    description: 'The name of the node.',
    schema: { type: 'string', pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$', maxLength: 253 },
  };
  const list = {
    tags: [TAG],
    parameters: [...parameters(), ...cacheBusters(), IF_NONE_MATCH],
  };
  const get = { tags: [TAG], parameters: [name, ...cacheBusters(), IF_NONE_MATCH] };
  const listed = { ...UNCHANGED, ...refusals(400, 401, 403, 406, 429, 503, 504) };
  const found = { ...UNCHANGED, ...refusals(400, 401, 403, 404, 406, 429, 503, 504) };
  return {
    [path]: {
      get: {
        ...list,
        operationId: 'listNodes',
        summary: 'Nodes, filtered, sorted and in pages.',
        responses: { 200: ok('A page of nodes.', { $ref: '#/components/schemas/NodeList' }), ...listed },
      },
      head: {
        ...list,
        operationId: 'headNodes',
        summary: 'The headers of the same list.',
        responses: { 200: { description: 'There is such a page.', headers: ETAG }, ...withoutBodies(listed) },
      },
    },
    [`${path}/{name}`]: {
      get: {
        ...get,
        operationId: 'getNode',
        summary: 'One node.',
        responses: { 200: ok('The node.', NODE), ...found },
      },
      head: {
        ...get,
        operationId: 'headNode',
        summary: 'The headers of the same node.',
        responses: { 200: { description: 'There is such a node.', headers: ETAG }, ...withoutBodies(found) },
      },
    },
  };
}

export function nodeSchemas(group: string): Description {
  const apiVersion = { const: `${group}/v1alpha3` };
  const texts = { type: 'object', additionalProperties: { type: 'string' } };
  return {
    Node: {
      type: 'object',
      description: 'A node of the cluster, whole: everything that Kubernetes says of it is here.',
      required: ['kind', 'apiVersion', 'metadata'],
      properties: {
        kind: { const: 'Node' },
        apiVersion,
        metadata: {
          type: 'object',
          required: ['name', 'selfLink', 'uid', 'resourceVersion', 'creationTimestamp'],
          properties: {
            name: { type: 'string' },
            selfLink: { type: 'string', description: 'The path of the node here.' },
            uid: { type: 'string' },
            resourceVersion: { type: 'string' },
            creationTimestamp: { type: 'string', format: 'date-time' },
            labels: texts,
            annotations: texts,
          },
        },
        spec: { type: 'object' },
        status: { type: 'object' },
      },
    },
    NodeList: {
      type: 'object',
      required: ['kind', 'apiVersion', 'metadata', 'items', 'totalItems'],
      properties: {
        kind: { const: 'NodeList' },
        apiVersion,
        metadata: {
          type: 'object',
          required: ['resourceVersion'],
          properties: { resourceVersion: { type: 'string', description: 'The state of the cluster.' } },
        },
        items: { type: 'array', items: NODE },
        totalItems: { type: 'integer', minimum: 0, description: 'Nodes on all pages together.' },
      },
    },
  };
}

function parameters(): Description[] {
  return Object.entries(NodeQuerySchema.properties).map(([name, property]) => {
    const { description, ...schema }: Description = { ...property };
    const list = schema['type'] === 'array' ? { style: 'form', explode: false } : {};
    return { name, in: 'query', description, ...list, schema };
  });
}

function cacheBusters(): Description[] {
  const description = 'Ignored: appended by clients so that no cache answers.';
  return CACHE_BUSTERS.map((name) => ({ name, in: 'query', description, schema: { type: 'string' } }));
}

function ok(description: string, schema: Description): Description {
  return { description, headers: ETAG, content: { 'application/json': { schema } } };
}

/** An answer to HEAD says what it would say of its body, and has none. */
function withoutBodies(answers: Description): Description {
  return Object.fromEntries(
    Object.entries(answers).map(([code, answer]) => {
      const { content: _, ...rest } = record(answer);
      return [code, rest];
    }),
  );
}
