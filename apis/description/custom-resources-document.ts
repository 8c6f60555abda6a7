// Generates the OpenAPI 3.1 document of the custom resources that the manifests install. kube-apiserver serves the
// custom resources.
import type { CustomResource } from '../iam/v1beta1/custom-resource.ts';
import { CUSTOM_RESOURCES } from '../iam/v1beta1/custom-resources.ts';
import { groupName, VERSION } from '../iam/v1beta1/group-version.ts';
import { structuralSchema } from '../iam/v1beta1/structural-schema.ts';
import { StatusSchema } from '../meta/v1/status.ts';

export interface CustomResourcesOptions {
  /** The `<platform>` of the API group. */
  readonly platform: string;
  /** Version of the server, without a `v`. */
  readonly version: string;
}

const LIST_QUERY = {
  labelSelector: 'Only objects whose labels match.',
  fieldSelector: 'Only objects whose fields match.',
  limit: 'The maximum number of objects per page.',
  continue: 'The continue token of the previous page.',
  resourceVersion: 'The minimum resourceVersion of the response.',
  watch: 'A stream of changes instead of a list.',
} as const;

const PATCHES = [
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/apply-patch+yaml',
];
const reference = (name: string): object => ({ schema: { $ref: `#/components/schemas/${name}` } });
const json = (name: string): object => ({ 'application/json': reference(name) });

export function customResourcesDescription({ platform, version }: CustomResourcesOptions): object {
  const group = groupName(platform);
  return {
    openapi: '3.1.0',
    info: {
      title: group,
      version,
      summary: 'The custom resources of the platform, served by kube-apiserver.',
    },
    servers: [{ url: '/' }],
    tags: CUSTOM_RESOURCES.map(({ plural, description }) => ({ name: plural, description })),
    security: [{ bearer: [] }],
    paths: Object.fromEntries(CUSTOM_RESOURCES.flatMap((resource) => pathsOf(group, resource))),
    components: {
      schemas: {
        Status: StatusSchema,
        ...Object.fromEntries(CUSTOM_RESOURCES.flatMap((resource) => schemasOf(group, resource))),
      },
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function pathsOf(group: string, { kind, plural, status }: CustomResource): [string, object][] {
  const collection = `/apis/${group}/${VERSION}/${plural}`;
  const operation = (id: string, summary: string, response: string, more: object = {}): object => ({
    operationId: `${id}${kind}`,
    tags: [plural],
    summary,
    ...more,
    responses: {
      [id === 'create' ? 201 : 200]: { description: 'Done.', content: json(response) },
      default: { description: 'The error.', content: json('Status') },
    },
  });
  const body = { requestBody: { required: true, content: json(kind) } };
  const patch = {
    requestBody: {
      required: true,
      content: Object.fromEntries(PATCHES.map((type) => [type, { schema: { type: ['object', 'array'] } }])),
    },
  };
  const query = Object.entries(LIST_QUERY).map(([name, description]) => ({
    name,
    in: 'query',
    description,
    schema: { type: name === 'limit' ? 'integer' : name === 'watch' ? 'boolean' : 'string' },
  }));
  const named = { parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }] };
  return [
    [
      collection,
      {
        get: operation('list', `Lists or watches ${plural}`, `${kind}List`, { parameters: query }),
        post: operation('create', `Creates a ${kind}`, kind, body),
      },
    ],
    [
      `${collection}/{name}`,
      {
        ...named,
        get: operation('read', `Reads a ${kind}`, kind),
        put: operation('replace', `Replaces a ${kind}`, kind, body),
        patch: operation('patch', `Patches a ${kind}`, kind, patch),
        delete: operation('delete', `Deletes a ${kind}`, 'Status'),
      },
    ],
    ...(status === undefined
      ? []
      : [
          [
            `${collection}/{name}/status`,
            {
              ...named,
              get: operation('readStatusOf', `Reads a ${kind} with its status`, kind),
              put: operation('replaceStatusOf', `Replaces the status of a ${kind}`, kind, body),
            },
          ] satisfies [string, object],
        ]),
  ];
}

function schemasOf(group: string, resource: CustomResource): [string, object][] {
  const { kind } = resource;
  const gvk = (name: string): object => ({
    'x-kubernetes-group-version-kind': [{ group, version: VERSION, kind: name }],
  });
  const text = { type: 'string' };
  const list = {
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: text,
      kind: text,
      metadata: { type: 'object', description: 'ListMeta of Kubernetes.' },
      items: { type: 'array', items: { $ref: `#/components/schemas/${kind}` } },
    },
  };
  return [
    [kind, { ...structuralSchema(resource), ...gvk(kind) }],
    [`${kind}List`, { ...list, ...gvk(`${kind}List`) }],
  ];
}
