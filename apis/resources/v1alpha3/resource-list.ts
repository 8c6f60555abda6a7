// JSON Schemas of the responses under `/kapis`: objects, pages of lists, and search results. The schema of an object
// contains only the fields that consoles use.
import { Type } from '../../reading/json-schema.ts';

const TextMap = Type.Object({}, { additionalProperties: Type.String() });

const metadata = Type.Object(
  {
    name: Type.String(),
    namespace: Type.Optional(Type.String()),
    selfLink: Type.String({ description: 'The path of the object.' }),
    uid: Type.String(),
    resourceVersion: Type.String({ description: 'The resourceVersion of the cluster.' }),
    creationTimestamp: Type.String({ format: 'date-time' }),
    labels: Type.Optional(TextMap),
    annotations: Type.Optional(TextMap),
  },
  { description: 'ObjectMeta of Kubernetes; further members exist.' },
);

export const ResourceSchema = Type.Object(
  { kind: Type.String(), apiVersion: Type.String(), metadata },
  { description: 'An object of the cluster, with all members that it has in Kubernetes.' },
);

const Column = Type.Object({
  name: Type.String(),
  type: Type.String({
    description:
      '`string`, `integer`, `number`, `boolean` or `date`. A date is a timestamp of RFC 3339; if that of the object is none, the text `<invalid>` or `<unknown>`.',
  }),
  format: Type.String({
    description: 'A format of Kubernetes, `status` for the status of the object, or `bytes`; can be empty.',
  }),
  description: Type.String(),
  priority: Type.Integer({ description: '0 for columns that are always shown.' }),
  sortKey: Type.Optional(
    Type.String({ description: 'The value of `sortBy`; missing if lists cannot be sorted by the column.' }),
  ),
});

const Cell = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);

const Counts = Type.Object({}, { additionalProperties: Type.Integer({ minimum: 1 }) });

/** A page. `items` references the schema of an object, so that a document contains that schema once. */
export const ResourceListSchema = Type.Object(
  {
    kind: Type.String({ description: 'The kind of the objects with the suffix `List`.' }),
    apiVersion: Type.String(),
    metadata: Type.Object({ resourceVersion: Type.String() }),
    items: Type.Array(Type.Ref('#/components/schemas/Resource'), { description: 'The objects of the page.' }),
    columns: Type.Optional(
      Type.Array(Column, { description: 'The columns of the kind, if the query requests them.' }),
    ),
    cells: Type.Optional(
      Type.Array(Type.Array(Cell), {
        description:
          'The values of the columns: one row for each object of `items`. A value is null if the object has none.',
      }),
    ),
    totalItems: Type.Integer({ minimum: 0, description: 'The number of objects on all pages.' }),
    facets: Type.Optional(
      Type.Object(
        {},
        { additionalProperties: Counts, description: 'Counts by value, for each facet of the query.' },
      ),
    ),
    partial: Type.Optional(
      Type.Literal(true, {
        description:
          'The caller has no permission to list the kind in the other namespaces, which the list does not include.',
      }),
    ),
  },
  { additionalProperties: false, description: 'A page of objects.' },
);

const SearchItem = Type.Object({
  match: Type.Unsafe<string>({
    type: 'string',
    enum: ['name', 'prefix', 'word', 'text'],
    description: 'What the text matches: the name, its start, the start of a word in it, or another text.',
  }),
  metadata: Type.Object({
    name: Type.String(),
    namespace: Type.Optional(Type.String()),
    uid: Type.String(),
    creationTimestamp: Type.String(),
    selfLink: Type.String({ description: 'The path of the object.' }),
  }),
  alias: Type.Optional(Type.String()),
  status: Type.Optional(Type.String()),
});

export const SearchResultSchema = Type.Object(
  {
    kind: Type.Literal('SearchResult'),
    apiVersion: Type.String(),
    kinds: Type.Array(Type.String(), { description: 'The kinds that were searched.' }),
    totalItems: Type.Integer({ minimum: 0, description: 'The number of matches of all kinds.' }),
    groups: Type.Array(
      Type.Object({
        resource: Type.String({ description: 'The kind, as `plural` or `plural.group`.' }),
        kind: Type.String(),
        apiVersion: Type.String(),
        totalItems: Type.Integer({ minimum: 1 }),
        partial: Type.Optional(Type.Literal(true)),
        items: Type.Array(SearchItem, { description: 'The best matches, the best first.' }),
      }),
      { description: 'The kinds with matches, the kind with the best match first.' },
    ),
  },
  { additionalProperties: false, description: 'The matches of a text by kind.' },
);
