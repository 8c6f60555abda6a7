// Tests of the manifests against a real kube-apiserver.
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { groupVersionsOf } from '../../../../hack/generate/groups.ts';
import { developmentManifests } from '../../../../hack/generate/manifests.ts';
import { namesFor } from '../../../../hack/generate/names.ts';
import { until } from '../../../support/until.ts';
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

describe('the manifests, applied to a real kube-apiserver', function () {
  this.timeout(120_000);
  let cluster: RegisteredCluster;

  before(async () => {
    cluster = await startCluster();
    await cluster.kubectl(['apply', '-k', 'manifests/access']);
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

  for (const installation of INSTALLATIONS) {
    it(`passes strict validation: ${installation}`, async () => {
      const answer = await cluster.kubectl([
        'apply',
        '-k',
        `manifests/${installation}`,
        '--server-side',
        '--dry-run=server',
        '--validate=strict',
      ]);
      expect(answer).to.match(/deployment.*serverside-applied/);
    });
  }

  for (const component of COMPONENTS) {
    it(`passes strict validation beside the base: components/${component}`, async () => {
      const objects = await build(
        `resources: [ks-apiserver/manifests/base]\ncomponents: [ks-apiserver/manifests/components/${component}]\n`,
      );
      const answer = await cluster.kubectl(
        ['apply', '-f', '-', '--server-side', '--dry-run=server', '--validate=strict'],
        objects,
      );
      expect(answer).to.match(/deployment.*serverside-applied/);
    });
  }

  it('are used by the kustomizations in the documentation', async () => {
    const shown = [
      ...(await kustomizationsOf('README.md')),
      ...(await kustomizationsOf('docs/configuration.md')),
      ...(await kustomizationsOf('docs/certificates.md')),
      ...(await kustomizationsOf('docs/installation.md')),
    ];
    expect(shown).to.have.length(5);
    const [base = '', configuration = '', certificates = '', variant = '', logs = ''] = shown;
    const [, patch = ''] = /^patches:\n(.*)/ms.exec(certificates) ?? [];
    const built = new Map<string, string>();
    for (const kustomization of [base, base + configuration, certificates, variant, logs, logs + patch]) {
      const objects = await build(kustomization);
      built.set(kustomization, objects);
      const answer = await cluster.kubectl(
        ['apply', '-f', '-', '--server-side', '--dry-run=server', '--validate=strict'],
        objects,
      );
      expect(answer, kustomization).to.match(/deployment.*serverside-applied/);
    }
    expect(built.get(base)).to.include('image: REGISTRY/ks-apiserver:');
    expect(built.get(base + configuration)).to.include('OURS: true');
    expect(built.get(logs + patch))
      .to.include('/etc/ks-apiserver-logs')
      .and.include('/etc/ks-apiserver-tls');
  });

  it('accept a custom configuration in the overlay without plain HTTP', async () => {
    const [configuration = ''] = await kustomizationsOf('docs/configuration.md');
    const objects = await build(
      `resources: [ks-apiserver/manifests/overlays/no-plain-http]\n${configuration}`,
    );
    expect(objects).to.include('OURS: true').and.not.include('name: http\n');
  });

  it('installs the base without a diff afterwards', async () => {
    await cluster.kubectl(['apply', '-k', 'manifests/base']);
    // Controllers may update the status of objects during the comparison, which also counts as a difference.
    let differences: string;
    const end = performance.now() + 60_000;
    do differences = await cluster.kubectl(['diff', '-k', 'manifests/base']).catch(String);
    while (differences !== '' && performance.now() < end);
    expect(differences).to.equal('');
  });

  it('changes nothing when the base is applied again', async () => {
    await cluster.kubectl(['apply', '-k', 'manifests/base']);
    const again = (await cluster.kubectl(['apply', '-k', 'manifests/base'])).trim().split('\n');
    // kubectl always replaces the selector of a PodDisruptionBudget, without a comparison.
    expect(again.filter((line) => !line.endsWith(' unchanged'))).to.deep.equal([
      'poddisruptionbudget.policy/ks-apiserver configured',
    ]);
  });

  it('creates pods that the restricted Pod Security Standard admits', async () => {
    await cluster.kubectl(['apply', '-k', 'manifests/base']);
    await cluster.kubectl([
      '--namespace',
      'platform-system',
      'wait',
      'replicaset',
      '--selector',
      'app.kubernetes.io/name=ks-apiserver',
      '--for',
      'jsonpath={.status.replicas}=2',
      '--timeout',
      '60s',
    ]);
  });

  it('grants the server its permissions, and no dangerous ones', async () => {
    const can = async (...question: string[]): Promise<boolean> => {
      const answer = await cluster
        .kubectl(['auth', 'can-i', ...question, '--as', 'system:serviceaccount:platform-system:ks-apiserver'])
        .catch(() => 'no');
      return answer.trim() === 'yes';
    };
    expect(await can('watch', 'nodes')).to.equal(true);
    expect(await can('watch', 'deployments.apps')).to.equal(true);
    expect(await can('watch', 'persistentvolumes')).to.equal(true);
    expect(await can('watch', 'rolebindings.rbac.authorization.k8s.io')).to.equal(true);
    expect(await can('create', 'tokenreviews.authentication.k8s.io')).to.equal(true);
    expect(await can('create', 'subjectaccessreviews.authorization.k8s.io')).to.equal(true);
    expect(await can('patch', 'apiservices/v1alpha3.resources.platform.io')).to.equal(true);
    const config = 'configmaps/extension-apiserver-authentication';
    expect(await can('watch', config, '--namespace', 'kube-system')).to.equal(true);

    expect(await can('patch', 'apiservices/v1.apps')).to.equal(false);
    expect(await can('delete', 'apiservices/v1alpha3.resources.platform.io')).to.equal(false);
    expect(await can('get', 'secrets', '--namespace', 'platform-system')).to.equal(true);
    expect(await can('get', 'secrets', '--namespace', 'kube-system')).to.equal(false);
    expect(await can('list', 'secrets', '--all-namespaces')).to.equal(false);
    expect(await can('list', 'clusterroles.rbac.authorization.k8s.io')).to.equal(false);
    expect(await can('update', 'nodes')).to.equal(false);
  });

  it('removes and restores the permission to read pod logs', async () => {
    const mayRead = async (): Promise<string> =>
      cluster
        .kubectl(['auth', 'can-i', 'get', 'pods', '--subresource', 'log', '--as', SERVER_USER.name])
        .then((answer) => answer.trim())
        .catch(() => 'no');
    expect(await mayRead()).to.equal('yes');
    const components = 'ks-apiserver/manifests/components';
    const without = await build(
      `resources: [ks-apiserver/manifests/base]\ncomponents: [${components}/no-pod-logs, ${components}/no-view]\n`,
    );
    await cluster.kubectl(['apply', '-f', '-'], without);
    await until(async () => (await mayRead()) === 'no');
    await cluster.kubectl(['apply', '-k', 'manifests/base']);
    await until(async () => (await mayRead()) === 'yes');
  });

  it('shows nodes only to users with the role', async () => {
    await cluster.kubectl([
      'create',
      'clusterrolebinding',
      'jane',
      '--clusterrole=platform-nodes-reader',
      '--user=jane',
    ]);
    const mayList = async (user: string): Promise<unknown> => {
      const review = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: {
          user,
          resourceAttributes: { verb: 'list', group: 'resources.platform.io', resource: 'nodes' },
        },
      };
      return cluster.kubectl(
        ['create', '-f', '-', '-o', 'jsonpath={.status.allowed}'],
        JSON.stringify(review),
      );
    };
    // kube-apiserver may not have received the new binding yet.
    await until(async () => (await mayList('jane')) === 'true');
    expect(await mayList('john')).to.equal('false');
  });

  it('creates the same objects on another port for the development server', async () => {
    const overlay = await cluster.kubectl(['kustomize', 'manifests/overlays/development']);
    const generated = developmentManifests(namesFor('platform'), 9443);
    expect(objectsOf(generated)).to.have.deep.members(objectsOf(overlay));
    await cluster.kubectl(['apply', '--dry-run=server', '--validate=strict', '-f', '-'], generated);
  });

  it('supports another platform name', async () => {
    await cluster.kubectl(['apply', '-f', '-'], developmentManifests(namesFor('acme'), 1234));
    const port = await cluster.kubectl([
      'get',
      'apiservice',
      'v1alpha3.resources.acme.io',
      '-o',
      'jsonpath={.spec.service.namespace}:{.spec.service.port}',
    ]);
    expect(port).to.equal('acme-system:1234');
  });

  it('leaves nothing behind after the documented uninstallation', async function () {
    // kube-apiserver waits up to a minute for the deletion of custom resources before it retries; one run took more
    // than 150 s.
    this.timeout(330_000);
    const apiServices = ['acme', 'platform'].flatMap((name) =>
      groupVersionsOf(namesFor(name)).map(({ apiService }) => apiService),
    );
    await cluster.kubectl(['delete', 'apiservice', ...apiServices]);
    await cluster.kubectl(['delete', '-k', 'manifests/base', '--ignore-not-found', '--timeout=300s']);
    const kinds = 'namespaces,clusterroles,clusterrolebindings,apiservices';
    const left = await cluster.kubectl(['get', kinds, '-o', 'name']);
    expect(left.split('\n').filter((name) => /platform[:.-]/.test(name))).to.deep.equal([]);
    const bindings = await cluster.kubectl([
      'get',
      'rolebindings',
      '--namespace',
      'kube-system',
      '-o',
      'name',
    ]);
    expect(bindings).not.to.include('platform:');
  });
});

function objectsOf(yaml: string): unknown[] {
  return parseAllDocuments(yaml).map((document) => document.toJS() as unknown);
}
