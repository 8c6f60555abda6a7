// Generates the Kustomize components under manifests/. Each component changes one aspect of the base.
import { stringify } from 'yaml';
import {
  CONSTRAINED_IMPERSONATION,
  IMPERSONATION,
  impersonationAccess,
  nodeUsageAccess,
  podLogsAccess,
  viewBindingName,
} from './access.ts';
import { configuration } from './configuration.ts';
import { headlampFiles } from './headlamp.ts';
import { component } from './kustomization.ts';
import type { ManifestFile } from './manifest-file.ts';
import { monitoringFiles } from './monitoring.ts';
import { type Names, SERVER } from './names.ts';
import { CONFIGURATION, networkPolicy, priorityQuota } from './workload.ts';

export function componentFiles(names: Names): ManifestFile[] {
  return [
    {
      path: 'components/node-port/kustomization.yaml',
      about: 'Makes the Service a NodePort.',
      documents: [
        component({
          patches: [
            {
              target: { kind: 'Service', name: SERVER },
              patch: stringify([{ op: 'add', path: '/spec/type', value: 'NodePort' }]),
            },
          ],
        }),
      ],
    },
    {
      path: 'components/no-plain-http/kustomization.yaml',
      about:
        'Removes the plain-HTTP listener from the server, its pods and the Service. Its configuration replaces one that you ' +
        'merge: to use your own, take overlays/no-plain-http as a resource and disable the listener in your configuration.',
      documents: [
        component({
          configMapGenerator: [
            {
              name: CONFIGURATION.configMap,
              namespace: names.namespace,
              behavior: 'merge',
              files: [CONFIGURATION.file],
            },
          ],
          patches: [
            {
              target: { kind: 'Service', name: SERVER },
              patch: stringify([
                { op: 'test', path: '/spec/ports/1/name', value: 'http' },
                { op: 'remove', path: '/spec/ports/1' },
              ]),
            },
            {
              target: { kind: 'Deployment', name: SERVER },
              patch: stringify([
                { op: 'test', path: '/spec/template/spec/containers/0/ports/1/name', value: 'http' },
                { op: 'remove', path: '/spec/template/spec/containers/0/ports/1' },
              ]),
            },
          ],
        }),
      ],
    },
    {
      path: `components/no-plain-http/${CONFIGURATION.file}`,
      about: "Replaces the base's configuration.",
      documents: [configuration(names, false)],
    },
    {
      path: 'components/network-policy/kustomization.yaml',
      about: 'Restricts ingress to the server.',
      documents: [component({ resources: ['network-policy.yaml'] })],
    },
    {
      path: 'components/network-policy/network-policy.yaml',
      about: 'Allows TLS from everywhere and plain HTTP from pods.',
      documents: [networkPolicy(names)],
    },
    {
      path: 'components/priority-quota/kustomization.yaml',
      about: 'For clusters that require a ResourceQuota for pods of critical priority.',
      documents: [component({ resources: ['resource-quota.yaml'] })],
    },
    {
      path: 'components/priority-quota/resource-quota.yaml',
      about: 'Admits pods of critical priority to the namespace.',
      documents: [priorityQuota(names)],
    },
    {
      path: 'components/node-usage/kustomization.yaml',
      about: 'The permission that the option resources.nodes.usageAnnotations needs.',
      documents: [component({ resources: ['access.yaml'] })],
    },
    {
      path: 'components/node-usage/access.yaml',
      about: 'Lets the server read pods, to sum up their resource requests per node.',
      documents: nodeUsageAccess(names),
    },
    {
      path: 'components/gateway-impersonation/kustomization.yaml',
      about: 'The permissions that the option gateway.impersonation needs.',
      documents: [component({ resources: ['access.yaml'] })],
    },
    {
      path: 'components/gateway-impersonation/access.yaml',
      about:
        'A ServiceAccount that can only impersonate, and the permission of the server to request its tokens.',
      documents: impersonationAccess(names, IMPERSONATION),
    },
    {
      path: 'components/gateway-constrained-impersonation/kustomization.yaml',
      about: 'As gateway-impersonation, for Kubernetes 1.36 or later.',
      documents: [component({ resources: ['access.yaml'] })],
    },
    {
      path: 'components/gateway-constrained-impersonation/access.yaml',
      about:
        'A ServiceAccount that can only impersonate, but neither system:masters nor nodes, and the permission of the server to request its tokens.',
      documents: impersonationAccess(names, CONSTRAINED_IMPERSONATION),
    },
    {
      path: 'components/no-pod-logs/kustomization.yaml',
      about: 'For installations with another log store: removes the permission to read pod logs.',
      documents: [
        component({
          // The role is emptied, because kubectl apply does not delete a role that is omitted.
          patches: podLogsAccess(names)
            .filter(({ kind }) => kind === 'ClusterRole')
            .map(({ kind, metadata: { name } }) => ({
              target: { kind, name },
              patch: stringify([{ op: 'replace', path: '/rules', value: [] }]),
            })),
        }),
      ],
    },
    {
      path: 'components/no-view/kustomization.yaml',
      about: 'Lists nodes only: removes the permissions of the role view, which also reads pod logs.',
      documents: [
        component({
          // The binding is emptied, because kubectl apply does not delete a binding that is omitted.
          patches: [
            {
              target: { kind: 'ClusterRoleBinding', name: viewBindingName(names) },
              patch: stringify([{ op: 'replace', path: '/subjects', value: [] }]),
            },
          ],
        }),
      ],
    },
    ...headlampFiles(names),
    ...monitoringFiles(names),
  ];
}
