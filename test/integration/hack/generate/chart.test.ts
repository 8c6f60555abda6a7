// Tests of the Helm chart with the real helm: it renders the same objects as kustomize does, and rejects invalid values.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { decodeConfiguration } from '../../../../apis/config/v1alpha1/decode.ts';
import { isRecord, record, recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import { provideGoProgram } from '../../../../hack/artifacts/go-programs.ts';
import { findPrograms } from '../../../../hack/control-plane/programs.ts';
import { manifests } from '../../../../hack/generate/manifests.ts';
import { namesFor } from '../../../../hack/generate/names.ts';
import { CONFIGURATION } from '../../../../hack/generate/workload.ts';
import { inChart, type KubernetesObject, nameOf, objectsOf, ofHelm, ofKustomize } from './chart-objects.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const CHART = join(ROOT, 'manifests/chart');

interface Case {
  readonly title: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly resource?: string;
  readonly components?: readonly string[];
  readonly platform?: string;
  /** What the operator writes into the configuration of kustomize. */
  readonly options?: object;
}

const CASES: readonly Case[] = [
  { title: 'the defaults', values: {} },
  { title: 'another platform name', values: { platform: 'acme' }, platform: 'acme' },
  { title: 'a NodePort', values: { service: { type: 'NodePort' } }, components: ['node-port'] },
  { title: 'no plain HTTP', values: { plainHTTP: false }, resource: 'overlays/no-plain-http' },
  { title: 'no plain HTTP, as component', values: { plainHTTP: false }, components: ['no-plain-http'] },
  { title: 'a network policy', values: { networkPolicy: { enabled: true } }, components: ['network-policy'] },
  { title: 'monitoring', values: { monitoring: { enabled: true } }, components: ['monitoring'] },
  { title: 'a quota', values: { priorityQuota: true }, components: ['priority-quota'] },
  { title: 'no role view', values: { view: false }, components: ['no-view'] },
  {
    title: 'another log store',
    values: { configuration: { logging: { store: 'victorialogs' } } },
    components: ['no-pod-logs'],
    options: { logging: { store: 'victorialogs' } },
  },
  {
    title: 'annotations of nodes without the role view',
    values: { view: false, configuration: { resources: { nodes: { usageAnnotations: true } } } },
    components: ['no-view', 'node-usage'],
    options: { resources: { nodes: { usageAnnotations: true } } },
  },
  {
    title: 'constrained impersonation',
    values: { impersonation: { callers: 'certificates' } },
    components: ['gateway-constrained-impersonation'],
    options: { gateway: { impersonation: 'certificates' } },
  },
  {
    title: 'impersonation',
    values: { impersonation: { callers: 'all', constrained: false } },
    components: ['gateway-impersonation'],
    options: { gateway: { impersonation: 'all' } },
  },
];

/** Values that the schema rejects, with a part of the error. */
const INVALID: readonly (readonly [values: Readonly<Record<string, unknown>>, error: RegExp])[] = [
  [{ replica: 3 }, /additional properties 'replica' not allowed/],
  [{ image: { name: 'x' } }, /\/image.*additional properties 'name' not allowed/s],
  [{ image: { repository: 'x\n  hostNetwork: true' } }, /\/image\/repository.*does not match pattern/s],
  [{ image: { digest: 'sha256:1' } }, /\/image\/digest.*does not match pattern/s],
  [{ platform: 'Acme' }, /\/platform.*does not match pattern/s],
  [{ platform: 'acme"' }, /\/platform.*does not match pattern/s],
  [{ replicas: '2' }, /\/replicas.*want integer/s],
  [{ service: { type: 'ExternalName' } }, /\/service\/type.*must be one of/s],
  [{ issuer: 'http://api.example.com/oauth' }, /\/issuer.*does not match pattern/s],
  [{ issuer: 'https://api.example.com' }, /\/issuer.*does not match pattern/s],
  [{ trustedCAs: 'none' }, /\/trustedCAs.*does not match pattern/s],
  [
    {
      trustedCAs:
        '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n-----BEGIN EC PRIVATE KEY-----\n',
    },
    /\/trustedCAs.*'not' failed/s,
  ],
  [{ configuration: { log: { levl: 'debug' } } }, /\/configuration\/log.*'levl' not allowed/s],
  [{ configuration: { log: { level: 'loud' } } }, /\/configuration\/log\/level.*must be one of/s],
  [
    { configuration: { oauth: { clients: [{}] } } },
    /\/configuration\/oauth\/clients\/0.*missing property 'id'/s,
  ],
  // The chart sets these options.
  [{ configuration: { platform: { name: 'acme' } } }, /\/configuration.*'platform' not allowed/s],
  [
    { configuration: { oauth: { issuer: 'https://a.example' } } },
    /\/configuration\/oauth.*'issuer' not allowed/s,
  ],
  [{ ingress: { enabled: true } }, /ingress\.enabled requires ingress\.host/],
  [{ route: { enabled: true, host: 'api.example.com' } }, /route\.enabled requires route\.parentRefs/],
];

/** Components that the chart does not contain. */
const OTHER_COMPONENTS = new Set(['headlamp']);

describe('the Helm chart', function () {
  this.timeout(600_000);
  let helm: string;
  let kubectl: string;
  let folder: string;

  before(async () => {
    const options = { env: process.env, signal: AbortSignal.timeout(600_000), progress: () => undefined };
    helm = await provideGoProgram('helm', options);
    ({ kubectl } = await findPrograms(['kubectl'], options));
    folder = await mkdtemp(join(tmpdir(), 'chart-'));
  });
  after(() => rm(folder, { recursive: true }));

  /** Resolves with stdout; rejects with stderr. */
  async function run(program: string, ...args: string[]): Promise<string> {
    // A folder of its own, so that no plugin and no configuration of the user matters.
    const env = { ...process.env, HOME: folder, KUBECONFIG: '/dev/null' };
    const { stdout } = await promisify(execFile)(program, args, { maxBuffer: 64 << 20, env });
    return stdout;
  }

  async function helmWith(command: readonly string[], values: object, namespace: string): Promise<string> {
    const file = join(folder, 'values.yaml');
    await writeFile(file, stringify(values));
    return run(helm, ...command, CHART, '--namespace', namespace, '--values', file);
  }

  async function render(values: object, platform = 'platform'): Promise<KubernetesObject[]> {
    const command = ['template', 'ks-apiserver', '--skip-tests'];
    return objectsOf(await helmWith(command, values, `${platform}-system`));
  }

  /** Builds a kustomization of manifests for the platform. */
  async function build({ resource = 'base', components = [], platform }: Case): Promise<KubernetesObject[]> {
    const target = join(folder, 'kustomize');
    await rm(target, { recursive: true, force: true });
    await cp(join(ROOT, 'manifests/components'), join(target, 'components'), { recursive: true });
    for (const [path, content] of manifests(namesFor(platform ?? 'platform'))) {
      await mkdir(dirname(join(target, path)), { recursive: true });
      await writeFile(join(target, path), content);
    }
    const kustomization = {
      resources: [resource],
      components: components.map((name) => `components/${name}`),
    };
    await writeFile(join(target, 'kustomization.yaml'), stringify(kustomization));
    return objectsOf(await run(kubectl, 'kustomize', target));
  }

  for (const each of CASES) {
    it(`renders the same objects as kustomize: ${each.title}`, async () => {
      const expected = inChart(await build(each)).map((object) => ofKustomize(object, each.options));
      const actual = (await render(each.values, each.platform)).map(ofHelm);
      expect(actual.map(nameOf)).to.have.members(expected.map(nameOf));
      const byName = new Map(actual.map((object) => [nameOf(object), object]));
      for (const object of expected) expect(byName.get(nameOf(object))).to.deep.equal(object);
    });
  }

  it('has a value for each component', async () => {
    const names = (await readdir(join(ROOT, 'manifests/components'))).filter(
      (name) => !OTHER_COMPONENTS.has(name),
    );
    expect(new Set(CASES.flatMap(({ components = [] }) => components))).to.deep.equal(new Set(names));
  });

  for (const [values, error] of INVALID) {
    it(`rejects ${JSON.stringify(values)}`, async () => {
      const failure = await render(values).then(
        () => 'accepted',
        (reason: unknown) => String(reason),
      );
      expect(failure).to.match(error);
    });
  }

  it('writes values as text, which cannot change the objects', async () => {
    const hostile = 'x: y"\n  - {{ .Release.Name }}\n# \u0007\u2028</script>\'';
    const annotations = { 'example.com/note': hostile };
    const objects = await render({
      podAnnotations: annotations,
      service: { annotations },
      trustedCAs: `-----BEGIN CERTIFICATE-----\n${hostile}`,
      tolerations: [{ key: hostile, tolerationSeconds: 9_007_199_254_740_991 }],
      configuration: { oauth: { clients: [{ id: 'console', displayName: hostile, public: true }] } },
    });
    const byName = new Map(objects.map((object) => [nameOf(object).replace('/platform-system', ''), object]));
    const pod = recordIn(
      recordIn(recordIn(byName.get('Deployment/ks-apiserver'), 'spec'), 'template'),
      'spec',
    );
    expect(objects).to.have.length((await render({})).length + 1);
    expect(byName.get('Service/ks-apiserver')).to.have.deep.nested.property(
      'metadata.annotations',
      annotations,
    );
    expect(byName.get('ConfigMap/ks-apiserver-trusted-cas')).to.have.deep.property('data', {
      'ca.crt': `-----BEGIN CERTIFICATE-----\n${hostile}`,
    });
    expect(pod['tolerations']).to.deep.equal([{ key: hostile, tolerationSeconds: 9_007_199_254_740_991 }]);
    const file = recordIn(byName.get('ConfigMap/ks-apiserver-configuration'), 'data')[CONFIGURATION.file];
    const options = decodeConfiguration({ source: 'chart', text: text(file) });
    expect(options.oauth.clients[0]?.displayName).to.equal(hostile);
  });

  it('accepts the values of the documentation', async () => {
    const page = await readFile(join(ROOT, 'docs/installation.md'), 'utf8');
    const [, values = ''] = /```yaml\n(# values\.yaml\n[^`]*)```/.exec(page) ?? [];
    const objects = await render(record(parse(values)));
    const configMap = objects.find(({ kind, data }) => kind === 'ConfigMap' && isRecord(data));
    const file = recordIn(configMap, 'data')[CONFIGURATION.file];
    const { oauth } = decodeConfiguration({ source: 'chart', text: text(file) });
    expect(oauth.issuer).to.equal('https://api.example.com/oauth');
    expect(oauth.clients).to.have.length(1);
  });

  it('passes helm lint --strict', async () => {
    expect(await helmWith(['lint', '--strict'], {}, 'platform-system')).to.match(/0 chart\(s\) failed/);
  });
});
