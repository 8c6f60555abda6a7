// The query of the platform's node list: each parameter once, as JSON Schema. Validation, types and documentation
// come from here; what a parameter does is server/resources/nodes' business.
import { type Static, Type } from 'typebox';

/** Words for the health of a node, by the rule of the platform's consoles. */
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

/** What `fieldSelector` may ask for. */
export const NODE_FIELDS = ['metadata.name', 'spec.unschedulable'] as const;

/** Far above every list, and safe to calculate with. */
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
      description: 'Which page, from 1. A page behind the last one has no items.',
    }),
    limit: Type.Integer({
      minimum: -1,
      maximum: MOST,
      default: -1,
      description: 'Items of a page. -1 is all of them; 0 is none, only the count.',
    }),
    sortBy: Type.Unsafe<NodeSortKey>({
      type: 'string',
      enum: [...NODE_SORT_KEYS],
      default: 'creationTimestamp',
      description:
        'What the order goes by; ties by name. `createTime` is `creationTimestamp`; `cpu`, `memory` and `pods` are what is allocatable; `role` is all roles together.',
    }),
    ascending: Type.Boolean({
      default: false,
      description: 'Smallest, oldest or first in the alphabet first. Otherwise the exact reverse.',
    }),
    name: text('Nodes with this text in their name or in their alias. Case counts.'),
    names: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Nodes with one of these names. Empty: none.',
      }),
    ),
    uid: text('The node with this uid.'),
    alias: text(
      'Nodes with this text in their alias, the annotation `<platform>.io/alias-name`. Case counts.',
    ),
    status: Type.Optional(
      Type.Array(oneOf(NODE_STATUSES), {
        minItems: 1,
        description:
          'Nodes in one of these states. `unschedulable`: takes no new pods; else `warning`: a known condition is not as it should be; else `running`.',
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
    label: selector('label-selector', 'The same as `labelSelector`; when both are given, both hold.'),
    annotation: selector('label-selector', 'Written like a label selector, over the annotations.'),
  },
  { additionalProperties: false },
);

/** All that is given must hold. */
export type NodeQuery = Readonly<Static<typeof NodeQuerySchema>>;

/** The query of one node: nothing but cache-busters. */
export const NO_QUERY_SCHEMA = Type.Object({}, { additionalProperties: false });
