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
import { type ApiService, FIELD_MANAGER, readApiService } from '../../../../server/registration/ca-bundle.ts';
import type { ServingCA } from '../../../../server/registration/ca-bundle-controller.ts';
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
    for (let n = 0; n < 3; n++) cas.push((await CertificateAuthority.create('serving')).cert);
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

  it('corrects a change by another client', async () => {
    register(new RotatingCA(ca(0)));
    await bundleIs(ca(0));
    await setBundle(ca(1));
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

  it('keeps the CAs of all replicas during a rollout, and later only that of the remaining one', async () => {
    const overlapMs = 3_000;
    const registrations = [0, 1, 2].map((n) => register(new RotatingCA(ca(n)), { overlapMs }));
    await apiService(({ caBundle }) => [0, 1, 2].every((n) => caBundle.includes(ca(n).trim())));
    for (const registration of registrations) await described(registration, 'trusts the serving CA');
    // The replicas of the earlier release stop.
    for (const { abort } of running.slice(0, 2)) abort.abort();
    await bundleIs(ca(2));
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
    const registration = register(serving, { overlapMs: 10 });
    await bundleIs(ca(0));
    await cluster.controlPlane.apiserver.kill();
    serving.rotate(ca(1));
    await described(registration, 'cannot be');
    await cluster.controlPlane.apiserver.restart();
    await bundleIs(ca(1));
  });

  /** Polls `describe()` until it contains the text, because it emits no event. */
  const described = (registration: Registration, text: string): Promise<void> =>
    until(() => registration.describe().includes(text));
});
