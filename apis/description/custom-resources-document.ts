// Generates the OpenAPI 3.1 document of the custom resources that the manifests install. kube-apiserver serves the
// custom resources.
import type { CustomResource } from '../iam/v1beta1/custom-resource.ts';
import { CUSTOM_RESOURCES } from '../iam/v1beta1/custom-resources.ts';
import { groupName, VERSION } from '../iam/v1beta1/group-version.ts';
import { structuralSchema } from '../iam/v1beta1/structural-schema.ts';
import { StatusSchema } from '../meta/v1/status.ts';
import { Type } from '../reading/json-schema.ts';
import { type OpenAPIDocument, openAPIDocument } from './openapi-document.ts';
import type { Operation } from './operation.ts';

interface CustomResourcesOptions {
  /** The `<platform>` of the API group. */
  readonly platform: string;
  /** Version of the server, without a `v`. */
  readonly version: string;
}

const type = 'application/json';
const text = (description: string) => Type.Optional(Type.String({ description }));
const LIST_QUERY = Type.Object({
  labelSelector: text('Only objects whose labels match.'),
  fieldSelector: text('Only objects whose fields match.'),
  limit: Type.Optional(Type.Integer({ description: 'The maximum number of objects per page.' })),
  continue: text('The continue token of the previous page.'),
  resourceVersion: text('The minimum resourceVersion of the response.'),
  watch: Type.Optional(Type.Boolean({ description: 'A stream of changes instead of a list.' })),
});
const PATCH = {
  type: 'application/merge-patch+json',
  furtherTypes: ['application/json-patch+json', 'application/apply-patch+yaml'],
  schema: 'Patch',
  required: true,
};
const failed = { default: { description: 'The error.', type, schema: 'Status' } };

export function customResourcesDescription({ platform, version }: CustomResourcesOptions): OpenAPIDocument {
  const group = groupName(platform);
  return openAPIDocument({
    info: {
      title: group,
      version,
      summary: 'The custom resources of the platform, served by kube-apiserver.',
    },
    tags: CUSTOM_RESOURCES.map(({ plural, description }) => ({ name: plural, description })),
    operations: CUSTOM_RESOURCES.flatMap((resource) => operationsOf(group, resource)),
    schemas: {
      Status: StatusSchema,
      Patch: { type: ['object', 'array'] },
      ...Object.fromEntries(CUSTOM_RESOURCES.flatMap((resource) => schemasOf(group, resource))),
    },
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
  });
}

function operationsOf(group: string, { kind, plural, status }: CustomResource): Operation[] {
  const done = (schema: string) => ({ description: 'Done.', type, schema });
  const returned = { 200: done(kind), ...failed };
  const body = { type, schema: kind, required: true };
  const all = { tag: plural, security: [['bearer']], path: `/apis/${group}/${VERSION}/${plural}` };
  const one = { ...all, path: `${all.path}/{name}`, segments: { name: Type.String() }, responses: returned };
  const ofStatus = { ...one, path: `${one.path}/status` };
  return [
    {
      ...all,
      method: 'get',
      id: `list${kind}`,
      summary: `Lists or watches ${plural}`,
      query: LIST_QUERY,
      responses: { 200: done(`${kind}List`), ...failed },
    },
    {
      ...all,
      method: 'post',
      id: `create${kind}`,
      summary: `Creates a ${kind}`,
      body,
      responses: { 201: done(kind), ...failed },
    },
    { ...one, method: 'get', id: `read${kind}`, summary: `Reads a ${kind}` },
    { ...one, method: 'put', id: `replace${kind}`, summary: `Replaces a ${kind}`, body },
    { ...one, method: 'patch', id: `patch${kind}`, summary: `Patches a ${kind}`, body: PATCH },
    {
      ...one,
      method: 'delete',
      id: `delete${kind}`,
      summary: `Deletes a ${kind}`,
      responses: { 200: done('Status'), ...failed },
    },
    ...(status === undefined
      ? []
      : ([
          {
            ...ofStatus,
            method: 'get',
            id: `readStatusOf${kind}`,
            summary: `Reads a ${kind} with its status`,
          },
          {
            ...ofStatus,
            method: 'put',
            id: `replaceStatusOf${kind}`,
            summary: `Replaces the status of a ${kind}`,
            body,
          },
        ] as const)),
  ];
}

function schemasOf(group: string, resource: CustomResource): [string, object][] {
  const { kind } = resource;
  const gvk = (name: string): object => ({
    'x-kubernetes-group-version-kind': [{ group, version: VERSION, kind: name }],
  });
  const list = {
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object', description: 'ListMeta of Kubernetes.' },
      items: { type: 'array', items: { $ref: `#/components/schemas/${kind}` } },
    },
  };
  return [
    [kind, { ...structuralSchema(resource), ...gvk(kind) }],
    [`${kind}List`, { ...list, ...gvk(`${kind}List`) }],
  ];
}
