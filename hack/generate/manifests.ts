// The tree under manifests/, as one table: path, purpose and content of each file.
import { stringify } from 'yaml';
import { CUSTOM_RESOURCES } from '../../apis/iam/v1beta1/custom-resources.ts';
import { administrators, podLogsAccess, serverAccess, userRoles } from './access.ts';
import { admissionPolicies } from './admission.ts';
import { componentFiles } from './components.ts';
import { configuration } from './configuration.ts';
import { customResourceDefinition } from './custom-resources.ts';
import { kustomization } from './kustomization.ts';
import type { ManifestFile } from './manifest-file.ts';
import type { Names } from './names.ts';
import { apiServices, developmentService, service } from './registration.ts';
import { CONFIGURATION, deployment, namespace, podDisruptionBudget, serviceAccount } from './workload.ts';

/** The text of every generated manifest by its path below manifests/. */
export function manifests(names: Names): Map<string, string> {
  return new Map(files(names).map((file) => [file.path, write(file)]));
}

function files(names: Names, developmentPort = 9443): ManifestFile[] {
  return [
    {
      path: 'access/kustomization.yaml',
      about: 'The namespace and everything that says who may do what in it.',
      documents: [
        kustomization({
          resources: ['namespace.yaml', 'service-account.yaml', 'server.yaml', 'pod-logs.yaml', 'users.yaml'],
        }),
      ],
    },
    { path: 'access/namespace.yaml', about: 'Where the server lives.', documents: [namespace(names)] },
    {
      path: 'access/service-account.yaml',
      about: 'Who the server is to kube-apiserver.',
      documents: [serviceAccount(names)],
    },
    {
      path: 'access/server.yaml',
      about: 'What the server itself may do: nothing beyond this.',
      documents: serverAccess(names),
    },
    {
      path: 'access/pod-logs.yaml',
      about:
        'What the option logging.store takes when it is kubernetes; components/no-pod-logs takes it away.',
      documents: podLogsAccess(names),
    },
    {
      path: 'access/users.yaml',
      about: 'Roles to bind to users and monitoring; bound to nobody here.',
      documents: userRoles(names),
    },
    {
      path: 'identity/kustomization.yaml',
      about: 'Users and their sessions. Deleting the definitions deletes all of them.',
      documents: [
        kustomization({
          resources: [
            ...CUSTOM_RESOURCES.map(({ plural }) => `${plural}.yaml`),
            'admission.yaml',
            'administrators.yaml',
          ],
        }),
      ],
    },
    ...CUSTOM_RESOURCES.map((resource) => ({
      path: `identity/${resource.plural}.yaml`,
      about: resource.description,
      documents: [customResourceDefinition(names, resource)],
    })),
    {
      path: 'identity/admission.yaml',
      about: 'Changing groups and setting passwords requires permission to impersonate them.',
      documents: admissionPolicies(names),
    },
    {
      path: 'identity/administrators.yaml',
      about: 'What the group of the first user may do: everything.',
      documents: [administrators(names)],
    },
    {
      path: 'base/kustomization.yaml',
      about: 'The whole installation: kubectl apply -k manifests/base',
      documents: [
        kustomization({
          resources: [
            '../access',
            '../identity',
            'deployment.yaml',
            'pod-disruption-budget.yaml',
            'service.yaml',
            'api-service.yaml',
          ],
          configMapGenerator: [
            { name: CONFIGURATION.configMap, namespace: names.namespace, files: [CONFIGURATION.file] },
          ],
        }),
      ],
    },
    {
      path: `base/${CONFIGURATION.file}`,
      about:
        "The server's configuration. A copy beside your kustomization is yours to change: docs/configuration.md has all options.",
      documents: [configuration(names)],
    },
    { path: 'base/deployment.yaml', about: 'Two equal replicas.', documents: [deployment(names)] },
    {
      path: 'base/pod-disruption-budget.yaml',
      about: 'Draining nodes takes one replica at a time.',
      documents: [podDisruptionBudget(names)],
    },
    {
      path: 'base/service.yaml',
      about: '443 is TLS and serves everything; 80 is plain HTTP for callers inside the cluster.',
      documents: [service(names)],
    },
    {
      path: 'base/api-service.yaml',
      about: 'What kube-apiserver hands over to the server. Delete this first when uninstalling.',
      documents: apiServices(names),
    },
    ...componentFiles(names),
    {
      path: 'overlays/node-port/kustomization.yaml',
      about: 'The base, reachable from outside at a port of every node.',
      documents: [kustomization({ resources: ['../../base'], components: ['../../components/node-port'] })],
    },
    {
      path: 'overlays/no-plain-http/kustomization.yaml',
      about: 'The base without the plain-HTTP listener.',
      documents: [
        kustomization({ resources: ['../../base'], components: ['../../components/no-plain-http'] }),
      ],
    },
    {
      path: 'overlays/development/kustomization.yaml',
      about: `For a server that runs on the machine of kube-apiserver, at port ${developmentPort}, without any pod.`,
      documents: [
        kustomization({ resources: ['../../access', '../../identity', 'service.yaml', 'api-service.yaml'] }),
      ],
    },
    {
      path: 'overlays/development/service.yaml',
      about: 'The aggregator follows the name to this machine.',
      documents: [developmentService(names)],
    },
    {
      path: 'overlays/development/api-service.yaml',
      about: 'Registered at the port of the development server.',
      documents: apiServices(names, developmentPort),
    },
  ];
}

function write({ about, documents }: ManifestFile): string {
  const header = `# Generated by npm run generate from hack/generate: change it there.\n# ${about}\n`;
  const body = documents.map((document) =>
    stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }),
  );
  return header + body.join('---\n');
}

/**
 * What a development control plane needs to find a server at `port` of this machine: the same objects as the overlay,
 * with another port. Applied with `kubectl apply -f -`.
 */
export function developmentManifests(names: Names, port: number): string {
  return files(names, port)
    .filter(({ path }) => /^(access|identity|overlays\/development)\/(?!kustomization)/.test(path))
    .map(write)
    .join('---\n');
}
