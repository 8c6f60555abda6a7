// Lists the files under manifests/ with their purpose and content.
import { stringify } from 'yaml';
import { CUSTOM_RESOURCES } from '../../apis/iam/v1beta1/custom-resources.ts';
import { administrators, podLogsAccess, serverAccess, userRoles } from './access.ts';
import { admissionPolicies } from './admission.ts';
import { componentFiles } from './components.ts';
import { configuration } from './configuration.ts';
import { customResourceDefinition } from './custom-resources.ts';
import { installedSecrets } from './installed-secrets.ts';
import { kustomization } from './kustomization.ts';
import type { ManifestFile } from './manifest-file.ts';
import type { Names } from './names.ts';
import { apiServices, developmentService, service } from './registration.ts';
import { CONFIGURATION, deployment, namespace, podDisruptionBudget, serviceAccount } from './workload.ts';

/** Text of every generated manifest, by path below manifests/. */
export function manifests(names: Names): Map<string, string> {
  return new Map(files(names).map((file) => [file.path, write(file)]));
}

function files(names: Names, developmentPort = 9443): ManifestFile[] {
  return [
    {
      path: 'access/kustomization.yaml',
      about: 'Namespace, ServiceAccount and RBAC.',
      documents: [
        kustomization({
          resources: [
            'namespace.yaml',
            'service-account.yaml',
            'secrets.yaml',
            'server.yaml',
            'pod-logs.yaml',
            'users.yaml',
          ],
        }),
      ],
    },
    { path: 'access/namespace.yaml', about: 'The namespace of the server.', documents: [namespace(names)] },
    {
      path: 'access/service-account.yaml',
      about: 'The ServiceAccount of the server.',
      documents: [serviceAccount(names)],
    },
    {
      path: 'access/secrets.yaml',
      about: 'Empty Secrets, which the server fills: it is not allowed to create Secrets.',
      documents: installedSecrets(names),
    },
    {
      path: 'access/server.yaml',
      about: 'All permissions of the server.',
      documents: serverAccess(names),
    },
    {
      path: 'access/pod-logs.yaml',
      about: 'Permissions that logging.store kubernetes needs; components/no-pod-logs removes them.',
      documents: podLogsAccess(names),
    },
    {
      path: 'access/users.yaml',
      about: 'Roles to bind to users and monitoring; not bound by default.',
      documents: userRoles(names),
    },
    {
      path: 'identity/kustomization.yaml',
      about: 'CustomResourceDefinitions of users and sessions. Deleting them deletes all users and sessions.',
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
      about: 'Grants cluster-admin to the group of the first user.',
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
      about: 'Limits the eviction during node drains to one replica at a time.',
      documents: [podDisruptionBudget(names)],
    },
    {
      path: 'base/service.yaml',
      about: '443: TLS, all paths; 80: plain HTTP for clients inside the cluster.',
      documents: [service(names)],
    },
    {
      path: 'base/api-service.yaml',
      about:
        'The API groups that kube-apiserver forwards to the server. Delete this first when uninstalling.',
      documents: apiServices(names),
    },
    ...componentFiles(names),
    {
      path: 'overlays/node-port/kustomization.yaml',
      about: 'The base with a NodePort Service.',
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
      about: `For a server on the host of kube-apiserver, on port ${developmentPort}, without pods.`,
      documents: [
        kustomization({ resources: ['../../access', '../../identity', 'service.yaml', 'api-service.yaml'] }),
      ],
    },
    {
      path: 'overlays/development/service.yaml',
      about: 'ExternalName of this machine, for the aggregator.',
      documents: [developmentService(names)],
    },
    {
      path: 'overlays/development/api-service.yaml',
      about: 'APIServices with the port of the development server.',
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

/** Objects of the development overlay for another `port`, for `kubectl apply -f -`. */
export function developmentManifests(names: Names, port: number): string {
  return files(names, port)
    .filter(({ path }) => /^(access|identity|overlays\/development)\/(?!kustomization)/.test(path))
    .map(write)
    .join('---\n');
}
