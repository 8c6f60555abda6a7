// The query of the platform's node list, as JSON Schema: the source of validation, types and documentation.
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

/** Larger than every list, and safe in arithmetic. */
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
      description: 'Items per page. -1: all; 0: none, only the total.',
    }),
    sortBy: Type.Unsafe<NodeSortKey>({
      type: 'string',
      enum: [...NODE_SORT_KEYS],
      default: 'creationTimestamp',
      description:
        'The sort key; equal keys are ordered by name. `createTime` is `creationTimestamp`; `cpu`, `memory` and `pods` are the allocatable amounts; `role` is the list of roles.',
    }),
    ascending: Type.Boolean({
      default: false,
      description: 'Ascending order. `false` is the exact reverse.',
    }),
    name: text('Nodes with this text in their name or alias. Case-sensitive.'),
    names: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Nodes with one of these names. Empty: none.',
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
          'Nodes with one of these statuses. `unschedulable`: cordoned; else `warning`: a health condition is not at its healthy value; else `running`.',
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
    label: selector('label-selector', 'The same as `labelSelector`; if both are given, both must match.'),
    annotation: selector('label-selector', 'A label selector that is applied to annotations.'),
  },
  { additionalProperties: false },
);

/** All given filters must match. */
export type NodeQuery = Readonly<Static<typeof NodeQuerySchema>>;

/** The query of a single node: cache-busters only. */
export const NO_QUERY_SCHEMA = Type.Object({}, { additionalProperties: false });
