// The components under manifests/: each changes the base in one way, and overlays put them together.
import { stringify } from 'yaml';
import { nodeUsageAccess, podLogsAccess } from './access.ts';
import { configuration } from './configuration.ts';
import { component } from './kustomization.ts';
import type { ManifestFile } from './manifest-file.ts';
import { type Names, SERVER } from './names.ts';
import { CONFIGURATION, networkPolicy, priorityQuota } from './workload.ts';

export function componentFiles(names: Names): ManifestFile[] {
  return [
    {
      path: 'components/node-port/kustomization.yaml',
      about: 'Exposes the Service at a port of every node.',
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
        'Takes the plain-HTTP listener away: from the server, from its pods and from the Service. Its configuration takes the ' +
        'place of one that you merge beside it: use overlays/no-plain-http as a resource then, and turn the listener off in yours.',
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
      about: "Stands in place of the base's configuration.",
      documents: [configuration(names, false)],
    },
    {
      path: 'components/network-policy/kustomization.yaml',
      about: 'Says which connections to the server are let through.',
      documents: [component({ resources: ['network-policy.yaml'] })],
    },
    {
      path: 'components/network-policy/network-policy.yaml',
      about: 'TLS from everywhere, plain HTTP from pods; nothing else.',
      documents: [networkPolicy(names)],
    },
    {
      path: 'components/priority-quota/kustomization.yaml',
      about: 'For clusters that admit Pods of critical priority only where a quota is for them.',
      documents: [component({ resources: ['resource-quota.yaml'] })],
    },
    {
      path: 'components/priority-quota/resource-quota.yaml',
      about: 'Lets Pods of critical priority into the namespace.',
      documents: [priorityQuota(names)],
    },
    {
      path: 'components/node-usage/kustomization.yaml',
      about: 'The right that the option resources.nodes.usageAnnotations takes.',
      documents: [component({ resources: ['access.yaml'] })],
    },
    {
      path: 'components/node-usage/access.yaml',
      about: 'What the server may do beyond its own rights when it counts what pods take of their nodes.',
      documents: nodeUsageAccess(names),
    },
    {
      path: 'components/no-pod-logs/kustomization.yaml',
      about: 'For installations with a log store of their own: the server does not read logs of pods itself.',
      documents: [
        component({
          // The role is emptied, not left out: what is left out stays in a cluster that has it already.
          patches: podLogsAccess(names)
            .filter(({ kind }) => kind === 'ClusterRole')
            .map(({ kind, metadata: { name } }) => ({
              target: { kind, name },
              patch: stringify([{ op: 'replace', path: '/rules', value: [] }]),
            })),
        }),
      ],
    },
  ];
}
