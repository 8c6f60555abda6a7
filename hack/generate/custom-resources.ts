// Generates the CustomResourceDefinition manifests from the resource definitions in apis/.
import type { CustomResource } from '../../apis/iam/v1beta1/custom-resource.ts';
import { groupName, VERSION } from '../../apis/iam/v1beta1/group-version.ts';
import { structuralSchema } from '../../apis/iam/v1beta1/structural-schema.ts';
import type { KubernetesObject } from './kubernetes-object.ts';
import type { Names } from './names.ts';

export function customResourceDefinition(names: Names, resource: CustomResource): KubernetesObject {
  const group = groupName(names.platform);
  const { kind, plural, singular } = resource;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { kind, listKind: `${kind}List`, plural, singular },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          ...(resource.status === undefined ? {} : { subresources: { status: {} } }),
          additionalPrinterColumns: resource.columns.map(({ name, type, jsonPath, description, wide }) => ({
            name,
            type,
            jsonPath,
            description,
            ...(wide === true ? { priority: 1 } : {}),
          })),
          ...(resource.selectable.length === 0
            ? {}
            : { selectableFields: resource.selectable.map((name) => ({ jsonPath: `.spec.${name}` })) }),
          schema: { openAPIV3Schema: structuralSchema(resource) },
        },
      ],
    },
  };
}
