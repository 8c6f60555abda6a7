// Tests of the manifests against a real kube-apiserver.
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parseAllDocuments, stringify } from 'yaml';
import { DEFINED_BY, provideDefinitions } from '../../../../hack/artifacts/custom-resource-definitions.ts';
import { provideGoProgram } from '../../../../hack/artifacts/go-programs.ts';
import { groupVersionsOf } from '../../../../hack/generate/groups.ts';
import { developmentManifests } from '../../../../hack/generate/manifests.ts';
import { namesFor } from '../../../../hack/generate/names.ts';
import { until } from '../../../support/until.ts';
import { chartValues } from './chart-values.ts';
import { type RegisteredCluster, SERVER_USER, startCluster } from './registered-cluster.ts';

const ROOT = join(import.meta.dirname, '../../../..');

const COMPONENTS = readdirSync(join(ROOT, 'manifests/components'));
const INSTALLATIONS = ['base', 'overlays/node-port', 'overlays/no-plain-http'];

/** The kustomizations in a document, in order. Those within a Markdown list are indented there. */
async function kustomizationsOf(document: string): Promise<string[]> {
  const text = await readFile(join(ROOT, document), 'utf8');
  const blocks = [...text.matchAll(/^( *)```yaml\n([^`]*)```$/gm)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
  return blocks.filter((block) => /ks-apiserver\/manifests|configMapGenerator/.test(block));
}

describe('the manifests, applied to a real kube-apiserver', () => {
  let cluster: RegisteredCluster;
  let helm: string;

  before(async () => {
    cluster = await startCluster();
    await cluster.kubectl(['apply', '-k', 'manifests/access']);
    const options = { env: process.env, signal: AbortSignal.timeout(600_000), progress: () => undefined };
    helm = await provideGoProgram('helm', options);
    for (const project of DEFINED_BY) {
      const crds = await provideDefinitions(project, options);
      await cluster.kubectl(['apply', '--server-side', '-f', crds]);
      await cluster.kubectl(['wait', '--for=condition=Established', '--timeout=30s', '-f', crds]);
    }
  });
  after(() => cluster?.stop());

  /** Output of kustomize in a folder that contains a clone of the project and a custom configuration. */
  async function build(kustomization: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'kustomization-'));
    try {
      await symlink(ROOT, join(folder, 'ks-apiserver'));
      await writeFile(join(folder, 'configuration.yaml'), 'OURS: true\n');
      await writeFile(join(folder, 'kustomization.yaml'), kustomization);
      return await cluster.kubectl(['kustomize', folder]);
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  async function runHelm(...args: string[]): Promise<string> {
    const env = { ...process.env, KUBECONFIG: cluster.controlPlane.kubeconfig };
    const { stdout } = await promisify(execFile)(helm, args, { cwd: ROOT, env, maxBuffer: 64 << 20 });
    return stdout;
  }

  /** Documents that kube-apiserver has accepted: kustomizations share most of them. */
  const accepted = new Set<string>();

  /** Applies the objects with strict validation and without an effect. Returns the new documents. */
  async function validate(objects: string): Promise<string[]> {
    const documents = objects.split('---\n').filter((document) => !accepted.has(document));
    if (documents.length === 0) return [];
    const flags = ['--server-side', '--dry-run=server', '--validate=strict'];
    const answer = await cluster.kubectl(['apply', '-f', '-', ...flags], documents.join('---\n'));
    expect(answer.match(/serverside-applied/g)).to.have.length(documents.length);
    for (const document of documents) accepted.add(document);
    return documents;
  }

  for (const installation of INSTALLATIONS) {
    it(`passes strict validation: ${installation}`, async () => {
      const objects = await cluster.kubectl(['kustomize', `manifests/${installation}`]);
      expect(objects).to.match(/^kind: Deployment$/m);
      expect(await validate(objects)).not.to.have.length(0);
    });
  }

  for (const component of COMPONENTS) {
    it(`passes strict validation beside the base: components/${component}`, async () => {
      const objects = await build(
        `resources: [ks-apiserver/manifests/base]\ncomponents: [ks-apiserver/manifests/components/${component}]\n`,
      );
      expect(objects).to.match(/^kind: Deployment$/m);
      await validate(objects);
    });
  }

  for (const kind of ['TLSRoute', 'HTTPRoute']) {
    it(`passes strict validation with all values of the chart and a ${kind}`, async () => {
      const values = stringify(chartValues(kind));
      const folder = await mkdtemp(join(tmpdir(), 'values-'));
      try {
        await writeFile(join(folder, 'values.yaml'), values);
        const flags = ['--namespace=platform-system', '--api-versions=gateway.networking.k8s.io/v1/TLSRoute'];
        const file = join(folder, 'values.yaml');
        const stdout = await runHelm(
          'template',
          'ks-apiserver',
          'manifests/chart',
          ...flags,
          '--values',
          file,
        );
        const objects = stdout.split(/^---\n/m).filter((document) => /^kind: /m.test(document));
        expect(stdout)
          .to.match(new RegExp(`^kind: "?${kind}"?$`, 'm'))
          .and.match(/^kind: Ingress$/m);
        await validate(objects.join('---\n'));
      } finally {
        await rm(folder, { recursive: true });
      }
    });
  }

  it('are used by the kustomizations in the documentation', async () => {
    const pages = ['configuration', 'network', 'installation', 'metrics', 'relying-parties'].map(
      (page) => `docs/${page}.md`,
    );
    const shown = (await Promise.all(pages.map(kustomizationsOf))).flat();
    expect(shown).to.have.length(7);
    const [
      configuration = '',
      certificates = '',
      base = '',
      variant = '',
      logs = '',
      monitoring = '',
      headlamp = '',
    ] = shown;
    const [, patch = ''] = /^patches:\n(.*)/ms.exec(certificates) ?? [];
    const built = new Map<string, string>();
    const combined = [base + configuration, logs + patch];
    for (const kustomization of [base, certificates, variant, logs, monitoring, headlamp, ...combined]) {
      const objects = await build(kustomization);
      built.set(kustomization, objects);
      expect(objects, kustomization).to.match(/^kind: Deployment$/m);
      await validate(objects);
    }
    expect(built.get(base)).to.include('image: REGISTRY/ks-apiserver:');
    expect(built.get(base + configuration)).to.include('OURS: true');
    expect(built.get(headlamp)).to.match(/KUBERNETES_SERVICE_HOST\n\s+value: platform\.example\.com\n/);
    expect(built.get(logs + patch))
      .to.include('/etc/ks-apiserver-logs')
      .and.include('/etc/ks-apiserver-tls');
  });

  it('accept a custom configuration in the overlay without plain HTTP', async () => {
    const [configuration = ''] = await kustomizationsOf('docs/configuration.md');
    const overlay = 'resources: [ks-apiserver/manifests/overlays/no-plain-http]\n';
    const objects = await build(overlay + configuration);
    expect(objects).to.include('OURS: true').and.not.include('name: http\n');
  });

  it('installs the base without a diff afterwards', async () => {
    await cluster.kubectl(['apply', '-k', 'manifests/base']);
    // Controllers may update the status of objects during the comparison, which also counts as a difference.
    const differences = () => cluster.kubectl(['diff', '-k', 'manifests/base']).catch(String);
    await until(async () => (await differences()) === '');
  });

  it('changes nothing when the base is applied again', async () => {
    const generation = [
      'get',
      'pdb',
      '--namespace=platform-system',
      'ks-apiserver',
      '-o=jsonpath={.metadata.generation}',
    ];
    const before = await cluster.kubectl(generation);
    const output = await cluster.kubectl(['apply', '-k', 'manifests/base']);
    // kubectl sends the selector of each PodDisruptionBudget again, because its patch strategy is `replace`.
    const changed = output.split('\n').filter((line) => line !== '' && !line.endsWith(' unchanged'));
    expect(changed).to.deep.equal(['poddisruptionbudget.policy/ks-apiserver configured']);
    expect(await cluster.kubectl(generation)).to.equal(before);
  });

  it('creates pods that the restricted Pod Security Standard admits', async () => {
    await cluster.kubectl(['apply', '-k', 'manifests/base']);
    const selector = '--selector=app.kubernetes.io/name=ks-apiserver';
    const isCreated = ['--for=jsonpath={.status.replicas}=2', '--timeout=60s'];
    await cluster.kubectl(['wait', 'replicaset', '--namespace=platform-system', selector, ...isCreated]);
  });

  it('grants the server its permissions, and no dangerous ones', async () => {
    const inSystem = { namespace: 'kube-system' };
    const [rbac, registration] = ['rbac.authorization.k8s.io', 'apiregistration.k8s.io'];
    const ours = { group: registration, resource: 'apiservices', name: 'v1alpha3.resources.platform.io' };
    const keys = {
      resource: 'secrets',
      name: 'ks-apiserver-signing-keys',
      namespace: 'platform-system',
    };
    const settings = { resource: 'configmaps', name: 'extension-apiserver-authentication' };
    for (const [expected, attributes] of [
      [true, { verb: 'watch', resource: 'nodes' }],
      [true, { verb: 'watch', group: 'apps', resource: 'deployments' }],
      [true, { verb: 'watch', resource: 'persistentvolumes' }],
      [true, { verb: 'watch', group: rbac, resource: 'rolebindings' }],
      [true, { verb: 'create', group: 'authentication.k8s.io', resource: 'tokenreviews' }],
      [true, { verb: 'create', group: 'authorization.k8s.io', resource: 'subjectaccessreviews' }],
      [true, { verb: 'patch', ...ours }],
      [true, { verb: 'watch', ...settings, ...inSystem }],
      [true, { verb: 'update', ...keys }],
      [false, { verb: 'create', ...keys }],
      [false, { verb: 'get', ...keys, name: 'of-another' }],
      [false, { verb: 'patch', ...ours, name: 'v1.apps' }],
      [false, { verb: 'delete', ...ours }],
      [false, { verb: 'get', resource: 'secrets', ...inSystem }],
      [false, { verb: 'list', resource: 'secrets' }],
      [false, { verb: 'list', group: rbac, resource: 'clusterroles' }],
      [false, { verb: 'update', resource: 'nodes' }],
    ] as const) {
      expect(await cluster.allows(SERVER_USER, attributes), JSON.stringify(attributes)).to.equal(expected);
    }
  });

  it('removes and restores the permission to read pod logs', async () => {
    const mayRead = () => cluster.allows(SERVER_USER, { verb: 'get', resource: 'pods', subresource: 'log' });
    expect(await mayRead()).to.equal(true);
    const components = 'ks-apiserver/manifests/components';
    const without = await build(
      `resources: [ks-apiserver/manifests/base]\ncomponents: [${components}/no-pod-logs, ${components}/no-view]\n`,
    );
    await cluster.kubectl(['apply', '-f', '-'], without);
    await until(async () => !(await mayRead()));
    await cluster.kubectl(['apply', '-k', 'manifests/base']);
    await until(mayRead);
  });

  it('shows nodes only to users with the role', async () => {
    const binding = ['--clusterrole=platform-nodes-reader', '--user=jane'];
    await cluster.kubectl(['create', 'clusterrolebinding', 'jane', ...binding]);
    const mayList = (name: string) =>
      cluster.allows({ name }, { verb: 'list', group: 'resources.platform.io', resource: 'nodes' });
    // kube-apiserver may not have received the new binding yet.
    await until(() => mayList('jane'));
    expect(await mayList('john')).to.equal(false);
  });

  it('creates the same objects on another port for the development server', async () => {
    const overlay = await cluster.kubectl(['kustomize', 'manifests/overlays/development']);
    const generated = developmentManifests(namesFor('platform'), 9443);
    expect(objectsOf(generated)).to.have.deep.members(objectsOf(overlay));
    await cluster.kubectl(['apply', '--dry-run=server', '--validate=strict', '-f', '-'], generated);
  });

  it('supports another platform name', async () => {
    await cluster.kubectl(['apply', '-f', '-'], developmentManifests(namesFor('acme'), 1234));
    const shown = 'jsonpath={.spec.service.namespace}:{.spec.service.port}';
    const service = await cluster.kubectl(['get', 'apiservice', 'v1alpha3.resources.acme.io', '-o', shown]);
    expect(service).to.equal('acme-system:1234');
  });

  it('lets Helm manage what kubectl has applied, with its signing keys', async () => {
    const keys = { data: { 'keys.json': 'e30=' } };
    const secret = ['secret', 'ks-apiserver-signing-keys', '--namespace=platform-system'];
    await cluster.kubectl(['patch', ...secret, '--patch', JSON.stringify(keys)]);
    const flags = ['--namespace=platform-system', '--take-ownership', '--force-conflicts'];
    await runHelm('install', 'ks-apiserver', 'manifests/chart', ...flags);
    expect(JSON.parse(await cluster.kubectl(['get', ...secret, '-o', 'json']))).to.deep.include(keys);
  });

  it('leaves nothing behind after the documented uninstallation', async () => {
    const apiServices = ['acme', 'platform'].flatMap((name) =>
      groupVersionsOf(namesFor(name)).map(({ apiService }) => apiService),
    );
    await cluster.kubectl(['delete', 'apiservice', ...apiServices]);
    // Without waiting for the definitions: if kube-apiserver cannot confirm at once that no custom resource is left, it tries
    // again each minute. The tests of the documents on a real cluster wait for them.
    await cluster.kubectl(['delete', '-k', 'manifests/base', '--ignore-not-found', '--wait=false']);
    const left = async (kinds: string, ...flags: string[]): Promise<string[]> =>
      (await cluster.kubectl(['get', kinds, '-o', 'name', ...flags]))
        .split('\n')
        .filter((name) => /platform[:.-]/.test(name));
    await until(
      async () => (await left('namespaces,clusterroles,clusterrolebindings,apiservices')).length === 0,
    );
    expect(await left('rolebindings', '--namespace=kube-system')).to.deep.equal([]);
  });
});

function objectsOf(yaml: string): unknown[] {
  return parseAllDocuments(yaml).map((document) => document.toJS() as unknown);
}
