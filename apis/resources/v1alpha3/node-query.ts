// The JSON Schema of the query of the node list for consoles. Validation, types and documentation are generated from
// it.
import { type Static, Type } from 'typebox';

/** Status of a node, as consoles of the platform define it. */
const NODE_STATUSES = ['running', 'warning', 'unschedulable'] as const;
export type NodeStatus = (typeof NODE_STATUSES)[number];

export const NODE_SORT_KEYS = [
  'name',
  'creationTimestamp',
  'createTime',
  'status',
  'role',
  'cpu',
  'memory',
  'pods',
  'kubeletVersion',
] as const;
export type NodeSortKey = (typeof NODE_SORT_KEYS)[number];

/** Fields that `fieldSelector` supports. */
export const NODE_FIELDS = ['metadata.name', 'spec.unschedulable'] as const;

/** Maximum page number and limit. It is larger than every list. */
const MOST = 2 ** 31 - 1;

const text = (description: string) => Type.Optional(Type.String({ description }));
const selector = (format: string, description: string) => Type.Optional(Type.String({ format, description }));
const oneOf = <const Words extends readonly string[]>(words: Words) =>
  Type.Unsafe<Words[number]>({ type: 'string', enum: [...words] });

export const NodeQuerySchema = Type.Object(
  {
    page: Type.Integer({
      minimum: 1,
      maximum: MOST,
      default: 1,
      description: 'The page number, from 1. A page after the last one has no items.',
    }),
    limit: Type.Integer({
      minimum: -1,
      maximum: MOST,
      default: -1,
      description: 'Nodes per page. `-1` returns all nodes, `0` returns only the total.',
    }),
    sortBy: Type.Unsafe<NodeSortKey>({
      type: 'string',
      enum: [...NODE_SORT_KEYS],
      default: 'creationTimestamp',
      description:
        'The sort key. Nodes with the same value are ordered by name. `createTime` is an alias of `creationTimestamp`. `cpu`, `memory` and `pods` are the allocatable amounts. `role` compares the lists of roles.',
    }),
    ascending: Type.Boolean({
      default: false,
      description: '`true`: ascending order. `false`: descending order.',
    }),
    name: text('Nodes with this text in their name or alias. Case-sensitive.'),
    names: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Nodes with one of these names. An empty value selects no node.',
      }),
    ),
    uid: text('The node with this uid.'),
    alias: text(
      'Nodes with this text in their alias, the annotation `<platform>.io/alias-name`. Case-sensitive.',
    ),
    status: Type.Optional(
      Type.Array(oneOf(NODE_STATUSES), {
        minItems: 1,
        description:
          'Nodes with one of these statuses. A cordoned node is `unschedulable`. Any other node is `warning` if a health condition does not have its healthy value, and otherwise `running`.',
      }),
    ),
    role: Type.Optional(
      Type.Array(Type.String(), { minItems: 1, description: 'Nodes with one of these roles.' }),
    ),
    labelSelector: selector('label-selector', 'A Kubernetes label selector.'),
    fieldSelector: selector(
      'field-selector',
      `A Kubernetes field selector over ${NODE_FIELDS.map((field) => `\`${field}\``).join(' and ')}.`,
    ),
    label: selector(
      'label-selector',
      'A second label selector. If `labelSelector` is also set, both must match.',
    ),
    annotation: selector('label-selector', 'A selector over annotations, in the syntax of a label selector.'),
  },
  { additionalProperties: false },
);

/** A valid query. A node must match all filters of the query. */
export type NodeQuery = Readonly<Static<typeof NodeQuerySchema>>;

/** The JSON Schema of the query of a single node, which has only cache-busting parameters. */
export const NO_QUERY_SCHEMA = Type.Object({}, { additionalProperties: false });
