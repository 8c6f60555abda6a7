// The JSON Schema of a node in the node list for consoles. A node is the complete Kubernetes object; the schema has
// only the fields that consoles use.
import { Type } from 'typebox';

const TextMap = Type.Object({}, { additionalProperties: Type.String() });

const metadata = Type.Object(
  {
    name: Type.String(),
    selfLink: Type.String({ description: 'The path of the node.' }),
    uid: Type.String(),
    resourceVersion: Type.String({ description: 'The resourceVersion of the cluster.' }),
    creationTimestamp: Type.String({ format: 'date-time' }),
    labels: Type.Optional(TextMap),
    annotations: Type.Optional(TextMap),
  },
  { description: 'ObjectMeta of Kubernetes; further members exist.' },
);

export const NodeSchema = Type.Object(
  {
    kind: Type.Literal('Node'),
    apiVersion: Type.String(),
    metadata,
    spec: Type.Optional(Type.Object({}, { description: 'NodeSpec of Kubernetes.' })),
    status: Type.Optional(Type.Object({}, { description: 'NodeStatus of Kubernetes.' })),
  },
  { description: 'A node of the cluster.' },
);

/** A page of nodes. `items` references the schema of a node, so that a document contains that schema once. */
export const NodeListSchema = Type.Object(
  {
    kind: Type.Literal('NodeList'),
    apiVersion: Type.String(),
    metadata: Type.Object({ resourceVersion: Type.String() }),
    items: Type.Array(Type.Ref('#/components/schemas/Node'), { description: 'The nodes of the page.' }),
    totalItems: Type.Integer({ minimum: 0, description: 'The number of nodes on all pages.' }),
  },
  { additionalProperties: false, description: 'A page of nodes.' },
);
