// A node as the platform's paths answer it: Kubernetes' own object, whole, of which only what consoles rely on is
// spelled out here.
import { Type } from 'typebox';

const TextMap = Type.Object({}, { additionalProperties: Type.String() });

const metadata = Type.Object(
  {
    name: Type.String(),
    selfLink: Type.String({ description: 'The path of the node here.' }),
    uid: Type.String(),
    resourceVersion: Type.String({ description: "The cluster's own." }),
    creationTimestamp: Type.String({ format: 'date-time' }),
    labels: Type.Optional(TextMap),
    annotations: Type.Optional(TextMap),
  },
  { description: 'ObjectMeta of Kubernetes; members that are not shown here are there as well.' },
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

/** `items` names the schema of a node by reference, so that a document shows it once. */
export const NodeListSchema = Type.Object(
  {
    kind: Type.Literal('NodeList'),
    apiVersion: Type.String(),
    metadata: Type.Object({ resourceVersion: Type.String() }),
    items: Type.Array(Type.Ref('#/components/schemas/Node'), { description: 'The nodes of the page.' }),
    totalItems: Type.Integer({ minimum: 0, description: 'How many there are on all pages.' }),
  },
  { additionalProperties: false, description: 'A page of nodes.' },
);
