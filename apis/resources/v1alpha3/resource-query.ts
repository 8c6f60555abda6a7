// JSON Schema of the query parameters of lists under `/kapis`. The sort keys, statuses and additional filters depend on
// the kind.
import type { Static, TObject, TProperties } from 'typebox';
import { Type } from '../../reading/json-schema.ts';

/** Maximum page number and limit. It is larger than every list. */
const MOST = 2 ** 31 - 1;
/** Maximum number of facets. */
export const MAX_FACETS = 10;
const MAX_TEXT = 1024;
/** Maximum length of a text to search for. V8 searches for texts above 250 characters in quadratic time. */
export const MAX_SEARCHED = 200;
/** Maximum number of values of a parameter. Each namespace can need a review of the permission. */
export const MAX_VALUES = 1_000;

const text = (description: string) => Type.Optional(Type.String({ maxLength: MAX_TEXT, description }));
const selector = (format: string, description: string) => Type.Optional(Type.String({ format, description }));

/** The part of each object that a list has. */
export type IncludedObject = 'Metadata' | 'Object';

/** The parameters of every kind, except sortBy and status. */
const COMMON = {
  page: Type.Integer({
    minimum: 1,
    maximum: MOST,
    default: 1,
    description: 'The page number. A page after the last one has no items.',
  }),
  limit: Type.Integer({
    minimum: -1,
    maximum: MOST,
    default: -1,
    description: 'Objects per page. `-1` returns all objects, `0` returns only the total.',
  }),
  ascending: Type.Boolean({
    default: false,
    description: '`true`: ascending order. `false`: the exact reverse.',
  }),
  namespaces: Type.Optional(
    Type.Array(Type.String(), {
      minItems: 1,
      maxItems: MAX_VALUES,
      description: 'One of these namespaces. Only for namespaced kinds.',
    }),
  ),
  namespace: text('This namespace. Cannot be combined with `namespaces`.'),
  q: Type.Optional(
    Type.String({
      maxLength: MAX_SEARCHED,
      description: 'Text in the name, alias, namespace, labels or images. Case-insensitive.',
    }),
  ),
  name: text('Text in the name or alias. Case-sensitive.'),
  names: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: MAX_VALUES,
      description: 'One of these names. An empty value selects no object.',
    }),
  ),
  uid: text('The uid of the object.'),
  alias: text('Text in the alias, the annotation `<platform>.io/alias-name`. Case-sensitive.'),
  ownerReference: text('The uid of an owner.'),
  ownerKind: text('The kind of an owner, for instance `ReplicaSet`.'),
  labelSelector: selector('label-selector', 'A Kubernetes label selector.'),
  label: selector('label-selector', 'Another label selector. Both must match.'),
  fieldSelector: selector('field-selector', 'A Kubernetes field selector over the fields of the kind.'),
  annotation: selector('label-selector', 'A label selector for annotations.'),
  facets: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      minItems: 1,
      maxItems: MAX_FACETS,
      description:
        'Adds counts of the objects on all pages: `status`, `namespace`, `ownerKind`, or a label key after `label:`.',
    }),
  ),
  columns: Type.Optional(
    Type.Boolean({
      description: '`true` adds the columns of the kind, and their values for each object.',
    }),
  ),
  includeObject: Type.Optional(
    Type.Unsafe<IncludedObject>({
      type: 'string',
      enum: ['Metadata', 'Object'],
      description:
        '`Metadata`: each item is a `PartialObjectMetadata`. `Object`, the default: the whole object.',
    }),
  ),
  live: Type.Optional(
    Type.Unsafe<'page'>({
      type: 'string',
      enum: ['page'],
      description: 'Only with `Accept: text/event-stream`: events with the new page, which is the default.',
    }),
  ),
} as const satisfies TProperties;

/** The properties of a kind that its query depends on. */
export interface QueriedKind {
  readonly sortKeys: readonly string[];
  /** Undefined if every text is accepted. */
  readonly statuses: readonly string[] | undefined;
  /** Names of additional parameters with lists of texts. */
  readonly filters: readonly string[];
}

const STATUS_TEXT = 'One of these statuses, for instance `Running`.';
const SORT_TEXT = 'The sort key; equal keys are ordered by name, then by namespace.';

/** Returns the schema of the query of a kind. */
export function resourceQuerySchema({ sortKeys, statuses, filters }: QueriedKind): TObject {
  const words = statuses ? Type.Unsafe<string>({ type: 'string', enum: [...statuses] }) : Type.String();
  return Type.Object(
    {
      ...COMMON,
      sortBy: Type.Unsafe<string>({
        type: 'string',
        enum: [...sortKeys],
        default: 'creationTimestamp',
        description: SORT_TEXT,
      }),
      status: Type.Optional(
        Type.Array(words, { minItems: 1, maxItems: MAX_VALUES, description: STATUS_TEXT }),
      ),
      ...Object.fromEntries(
        filters.map((name) => [
          name,
          Type.Optional(
            Type.Array(Type.String(), {
              minItems: 1,
              maxItems: MAX_VALUES,
              description: `One of these values of ${name}.`,
            }),
          ),
        ]),
      ),
    },
    { additionalProperties: false },
  );
}

/** The query of any kind, for documentation and types. The values of `sortBy` and `status` depend on the kind. */
export const AnyKindQuerySchema = Type.Object({
  ...COMMON,
  sortBy: Type.String({
    default: 'creationTimestamp',
    description: `${SORT_TEXT} For every kind: \`name\`, \`namespace\`, \`creationTimestamp\`, \`createTime\`, \`age\` and \`status\`. For pods also \`restarts\` and \`node\`; for events \`lastTimestamp\`; for deployments and jobs \`updateTime\`; for nodes \`role\`, \`cpu\`, \`memory\`, \`pods\` and \`kubeletVersion\`; for custom resources the names of their printer columns, also as \`column:NAME\`.`,
  }),
  status: Type.Optional(Type.Array(Type.String(), { minItems: 1, description: STATUS_TEXT })),
  role: Type.Optional(
    Type.Array(Type.String(), { minItems: 1, description: 'Only for nodes: one of these roles.' }),
  ),
  pvcName: Type.Optional(
    Type.Array(Type.String(), {
      minItems: 1,
      description: 'Only for pods: a volume of one of these PersistentVolumeClaims.',
    }),
  ),
  storageClassName: Type.Optional(
    Type.Array(Type.String(), {
      minItems: 1,
      description: 'Only for persistentvolumeclaims and persistentvolumes: one of these storage classes.',
    }),
  ),
});

/** A valid query. An object must match all filters of the query. The decoder stores `namespace` in `namespaces`. */
export type ResourceQuery = Readonly<Omit<Static<typeof AnyKindQuerySchema>, 'namespace'>>;

/** The JSON Schema of the query of a single object, which has only cache-busting parameters. */
export const NO_QUERY_SCHEMA = Type.Object({}, { additionalProperties: false });
