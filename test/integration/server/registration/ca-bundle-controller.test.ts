// Tests of the CA bundle controller against a real kube-apiserver, with only the permissions of the server.
import { readFile } from 'node:fs/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'chai';
import pino from 'pino';
import { array, record, recordIn } from '../../../../apis/reading/unknown-value.ts';
import { CertificateAuthority } from '../../../../hack/control-plane/certificate-authority.ts';
import { developmentManifests } from '../../../../hack/generate/manifests.ts';
import { namesFor } from '../../../../hack/generate/names.ts';
import { ClusterConnection } from '../../../../server/cluster/connection/connection.ts';
import { followObject } from '../../../../server/cluster/reflector/followed-object.ts';
import { type ApiService, readApiService } from '../../../../server/registration/ca-bundle.ts';
import type { ServingCA } from '../../../../server/registration/ca-bundle-controller.ts';
import { FIELD_MANAGER } from '../../../../server/registration/ca-bundle-controller.ts';
import { Registration, type RegistrationOptions } from '../../../../server/registration/registration.ts';
import { until } from '../../../support/until.ts';
import { API_SERVICE, API_SERVICE_PATH, type RegisteredCluster, SERVER_USER } from './registered-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const log = pino({ enabled: false });

class RotatingCA implements ServingCA {
  readonly #listeners = new Set<() => void>();
  #pem: string;

  constructor(pem: string) {
    this.#pem = pem;
  }

  current(): string {
    return this.#pem;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  rotate(pem: string): void {
    this.#pem = pem;
    for (const listener of this.#listeners) listener();
  }
}

describe('registration, with the permissions of the ServiceAccount', () => {
  let cluster: RegisteredCluster;
  let admin: ClusterConnection;
  let server: ClusterConnection;
  const manifests = developmentManifests(namesFor('platform'), 9443);
  const apiServices = manifests
    .split('---\n')
    .filter((document) => /^kind: APIService$/m.test(document))
    .join('---\n');
  const cas: string[] = [];
  let running: { readonly abort: AbortController; readonly ended: Promise<void> }[] = [];

  before(async () => {
    cluster = await sharedCluster();
    admin = await connect(cluster.controlPlane.kubeconfig);
    server = await connect(await cluster.controlPlane.kubeconfigFor(SERVER_USER));
    for (let n = 0; n < 4; n++) cas.push((await CertificateAuthority.create('serving')).cert);
    cas.push((await CertificateAuthority.create('another name')).cert);
    await cluster.apply(manifests);
  });

  beforeEach(() => cluster.apply(apiServices));

  afterEach(async () => {
    for (const { abort } of running) abort.abort();
    await Promise.all(running.map(({ ended }) => ended));
    running = [];
    await cluster.controlPlane.client.expect(API_SERVICE_PATH, { method: 'DELETE' }, [200, 404]);
  });

  after(() => {
    admin?.close();
    server?.close();
  });

  async function connect(kubeconfig: string): Promise<ClusterConnection> {
    const config = new KubeConfig();
    config.loadFromString(await readFile(kubeconfig, 'utf8'));
    return new ClusterConnection({ kubeConfig: () => config });
  }

  function register(servingCA: ServingCA, options: Partial<RegistrationOptions> = {}): Registration {
    const registration = new Registration({
      apiServices: [API_SERVICE],
      client: server,
      servingCA,
      sharedCA: false,
      manageCABundle: true,
      log,
      retryMs: 50,
      ...options,
    });
    const abort = new AbortController();
    running.push({ abort, ended: registration.run(abort.signal) });
    return registration;
  }

  /** Resolves with the APIService when `wanted` returns true for it. */
  async function apiService(wanted: (seen: ApiService) => boolean): Promise<ApiService> {
    const { promise, resolve } = Promise.withResolvers<ApiService>();
    const take = (apiService: unknown): void => {
      const seen = readApiService(apiService);
      if (seen && wanted(seen)) resolve(seen);
    };
    const path = API_SERVICE_PATH.slice(0, API_SERVICE_PATH.lastIndexOf('/'));
    const abort = new AbortController();
    const ended = followObject(
      { client: admin, log, path, name: API_SERVICE },
      take,
      AbortSignal.any([abort.signal, AbortSignal.timeout(60_000)]),
    );
    try {
      const late = ended.then(() => Promise.reject(new Error('not within 60 s')));
      return await Promise.race([promise, late]);
    } finally {
      abort.abort();
      await ended;
    }
  }

  const removeAPIService = () =>
    cluster.controlPlane.client.expect(API_SERVICE_PATH, { method: 'DELETE' }, [200]);
  const isMissing = () => cluster.controlPlane.client.expect(API_SERVICE_PATH, {}, [404]);
  const bundleIs = (pem: string) => apiService(({ caBundle }) => caBundle === pem);
  const ca = (index: number): string => cas[index] ?? '';

  async function setBundle(pem: string): Promise<void> {
    const patch = { spec: { caBundle: Buffer.from(pem).toString('base64') } };
    await admin.json({
      method: 'PATCH',
      path: `${API_SERVICE_PATH}?fieldManager=somebody`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify(patch),
      signal: AbortSignal.timeout(30_000),
    });
  }

  it('sets the serving CA, and owns no other field', async () => {
    register(new RotatingCA(ca(0)));
    await bundleIs(ca(0));
    const raw = await admin.json({ path: API_SERVICE_PATH, signal: AbortSignal.timeout(30_000) });
    const fields = array(recordIn(raw, 'metadata')['managedFields']).map(record);
    const ours = fields.filter(({ manager }) => manager === FIELD_MANAGER);
    expect(ours).to.have.length(1);
    const fieldsV1 = { 'f:spec': { 'f:caBundle': {} } };
    expect(ours[0]).to.deep.include({ operation: 'Apply', fieldsV1 });
  });

  for (const [what, next] of [
    ['the same name', 1],
    ['another name', 4],
  ] as const) {
    it(`removes the former CA only after the delay, for a CA of ${what}`, async () => {
      const serving = new RotatingCA(ca(0));
      register(serving, { sharedCA: true, settleMs: 300 });
      await bundleIs(ca(0));
      // The watch starts before the rotation, because the bundle with both CAs exists only for a short time.
      const seen: string[] = [];
      const following = Promise.withResolvers<void>();
      const rotated = apiService(({ caBundle }) => {
        seen.push(caBundle);
        following.resolve();
        return caBundle === ca(next);
      });
      await Promise.race([following.promise, rotated]);
      serving.rotate(ca(next));
      await rotated;
      const both = seen.filter(
        (bundle) => bundle.startsWith(ca(next).trim()) && bundle.includes(ca(0).trim()),
      );
      expect(both).not.to.have.length(0);
    });
  }

  it('corrects a change by another client', async () => {
    register(new RotatingCA(ca(0)));
    await bundleIs(ca(0));
    await setBundle(ca(4));
    await bundleIs(ca(0));
    await setBundle('');
    await bundleIs(ca(0));
  });

  it('keeps the bundle when kubectl applies the manifests again', async () => {
    await cluster.kubectl(['apply', '-f', '-'], apiServices);
    register(new RotatingCA(ca(0)));
    const before = await bundleIs(ca(0));
    await cluster.kubectl(['apply', '-f', '-'], manifests);
    const after = await apiService(() => true);
    expect(after.caBundle).to.equal(before.caBundle);
  });

  it('keeps the self-signed CAs of all replicas', async () => {
    register(new RotatingCA(ca(0)));
    register(new RotatingCA(ca(1)));
    register(new RotatingCA(ca(2)));
    const holdsAll = ({ caBundle }: ApiService) => [0, 1, 2].every((n) => caBundle.includes(ca(n).trim()));
    await apiService(holdsAll);
    // Each controller reads the APIService again after the change of another client, and none removes the CA of another
    // replica.
    await setBundle(ca(1));
    const { caBundle } = await apiService(holdsAll);
    expect(caBundle.match(/BEGIN CERTIFICATE/g)).to.have.length(3);
  });

  it('keeps both CAs while some replicas use files and others a self-signed CA', async () => {
    const settleMs = 2_000;
    const made = register(new RotatingCA(ca(0)), { settleMs });
    await bundleIs(ca(0));
    const changes: string[] = [];
    const filed = register(new RotatingCA(ca(4)), { sharedCA: true, settleMs });
    const { caBundle } = await apiService((seen) => {
      if (changes.at(-1) !== seen.caBundle) changes.push(seen.caBundle);
      return seen.caBundle.includes(ca(4).trim());
    });
    expect(caBundle).to.include(ca(0).trim());
    expect(changes).to.have.length.below(3);
    await described(made, 'trusts the serving CA');
    await described(filed, 'trusts the serving CA');
    // The replica with the self-signed CA stops.
    running[0]?.abort.abort();
    await bundleIs(ca(4));
  });

  it('waits for a missing APIService without creating it', async () => {
    await removeAPIService();
    const registration = register(new RotatingCA(ca(0)));
    await described(registration, 'does not exist');
    await isMissing();
    await cluster.apply(apiServices);
    await bundleIs(ca(0));
    await described(registration, 'trusts the serving CA');
  });

  it('does not manage an APIService with insecureSkipTLSVerify', async () => {
    const patch = '{"spec":{"insecureSkipTLSVerify":true}}';
    await cluster.kubectl(['patch', 'apiservice', API_SERVICE, '--type', 'merge', '--patch', patch]);
    await described(register(new RotatingCA(ca(0))), 'insecureSkipTLSVerify');
  });

  it('manages nothing with manageCABundle: false', async () => {
    const registration = register(new RotatingCA(ca(0)), { manageCABundle: false });
    await Promise.all(running.map(({ ended }) => ended));
    expect(registration.describe()).to.include('manageCABundle is false');
    expect((await apiService(() => true)).caBundle).to.equal('');
  });

  it('recovers after an outage of kube-apiserver', async () => {
    const serving = new RotatingCA(ca(0));
    const registration = register(serving, { settleMs: 10, sharedCA: true });
    await bundleIs(ca(0));
    await cluster.controlPlane.apiserver.kill();
    serving.rotate(ca(4));
    await described(registration, 'cannot be');
    await cluster.controlPlane.apiserver.restart();
    await bundleIs(ca(4));
  });

  /** Polls `describe()` until it contains the text, because it emits no event. */
  const described = (registration: Registration, text: string): Promise<void> =>
    until(() => registration.describe().includes(text));
});
