// Tests of the function that reads the completed configuration.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Override } from '../../../../apis/config/v1alpha1/error-locator.ts';
import { completeConfig } from '../../../../server/config/config.ts';
import { readEnvironment } from '../../../../server/config/environment.ts';

describe('completeConfig', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'config-'));
  });

  afterEach(() => rm(folder, { recursive: true }));

  async function complete(
    text: string,
    overrides: Override[] = [],
    variables: NodeJS.ProcessEnv = {},
    sources: { namespace?: string; namespaceFile?: string } = {},
  ) {
    const config = join(folder, 'c.yaml');
    await writeFile(config, `apiVersion: config.platform.io/v1alpha1\nkind: APIServerConfiguration\n${text}`);
    const environment = readEnvironment(variables, 'host');
    return completeConfig({ config, overrides, environment, workingDirectory: '/srv/platform', ...sources });
  }

  it('resolves paths relative to the configuration file', async () => {
    const config = await complete('listeners: {secure: {certFile: tls.crt, keyFile: /keys/tls.key}}\n');
    expect(config.listeners.secure).to.include({
      certFile: join(folder, 'tls.crt'),
      keyFile: '/keys/tls.key',
    });
  });

  it('resolves paths in lists, and keeps empty paths', async () => {
    const { oauth, logging } = await complete(
      'oauth: {clients: [{id: cli, secretFiles: [secret, /keys/secret]}]}\n' +
        'logging: {opensearch: {caFile: os/ca.crt}, victorialogs: {bearerTokenFile: token}}\n',
    );
    expect(oauth.clients[0]?.secretFiles).to.deep.equal([join(folder, 'secret'), '/keys/secret']);
    expect(logging.opensearch).to.include({ caFile: join(folder, 'os/ca.crt'), passwordFile: '' });
    expect(logging.victorialogs).to.include({ bearerTokenFile: join(folder, 'token'), caFile: '' });
  });

  it('resolves the path of a flag relative to the working directory', async () => {
    const override = { path: ['kubernetes', 'kubeconfig'], value: 'k', source: '--kubeconfig' };
    expect((await complete('', [override])).kubernetes.kubeconfig).to.equal('/srv/platform/k');
  });

  it('accepts removed options, and warns which option replaces them', async () => {
    const { requests, warnings } = await complete(
      'requests: {maxReadOnly: 5, streams: 7}\ngateway: {maxStreamsPerCaller: abc}\n',
    );
    expect(requests).to.include({ seats: 600, streams: 7 }).and.not.have.property('maxReadOnly');
    expect(warnings).to.deep.equal([
      'gateway.maxStreamsPerCaller is removed and has no effect; it is replaced by requests.streams, which all callers share fairly',
      'requests.maxReadOnly is removed and has no effect; it is replaced by requests.seats',
    ]);
  });

  it('has the namespace of the pod, outside a pod that of the manifests', async () => {
    const namespaceFile = join(folder, 'namespace');
    await writeFile(namespaceFile, 'elsewhere');
    const namespaceOf = async (text: string, sources: { namespace?: string } = {}) =>
      (await complete(text, [], {}, { namespaceFile, ...sources })).platform.namespace;
    expect(await namespaceOf('platform: {name: acme}\n')).to.equal('elsewhere');
    expect(await namespaceOf('', { namespace: 'given' })).to.equal('given');
    expect(await namespaceOf('platform: {name: acme}\nkubernetes: {kubeconfig: a}\n')).to.equal(
      'acme-system',
    );
    await rm(namespaceFile);
    expect(await namespaceOf('')).to.equal('platform-system');
  });

  it('prefers flag to file to KUBECONFIG', async () => {
    const variables = { KUBECONFIG: '/from/variable' };
    expect((await complete('', [], variables)).kubernetes.kubeconfig).to.equal('/from/variable');
    const file = await complete('kubernetes: {kubeconfig: /from/file}\n', [], variables);
    expect(file.kubernetes.kubeconfig).to.equal('/from/file');
  });

  it('reports a missing file in one line', async () => {
    const environment = readEnvironment({}, 'host');
    const error = await completeConfig({
      config: 'missing.yaml',
      overrides: [],
      environment,
      workingDirectory: folder,
    }).catch((failure: unknown) => failure);
    expect(error).to.have.property('message', 'missing.yaml: no such file');
  });
});
