// Tests of the CA that all replicas share, behind a real kube-apiserver, with only the permissions of the server.
import { X509Certificate } from 'node:crypto';
import { createServer } from 'node:https';
import { inspect } from 'node:util';
import { expect } from 'chai';
import pino from 'pino';
import { recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import { developmentManifests } from '../../../../hack/generate/manifests.ts';
import { namesFor } from '../../../../hack/generate/names.ts';
import { ClusterConnection } from '../../../../server/cluster/connection/connection.ts';
import { kubeConfigSource } from '../../../../server/cluster/connection/kubeconfig.ts';
import { SharedSecret } from '../../../../server/cluster/secrets/shared-secret.ts';
import { pemCertificates } from '../../../../server/files/pem-certificates.ts';
import {
  createAuthority,
  type KeyPair,
} from '../../../../server/listener/certificates/certificate-authority.ts';
import { newCertificateMetrics } from '../../../../server/listener/certificates/certificate-metrics.ts';
import {
  AUTHORITIES_ENTRY,
  IssuedCertificate,
} from '../../../../server/listener/certificates/issued-certificate.ts';
import { KEYS_SECRET } from '../../../../server/oauth/keys/key-rotator.ts';
import { createRegistry } from '../../../../server/observability/metrics.ts';
import { readApiService } from '../../../../server/registration/ca-bundle.ts';
import { Registration } from '../../../../server/registration/registration.ts';
import { closeNow, listenOnLoopback, portOf } from '../../../support/loopback.ts';
import { until } from '../../../support/until.ts';
import { API_SERVICE, API_SERVICE_PATH, type RegisteredCluster, SERVER_USER } from './registered-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const NAMESPACE = 'platform-system';
const SECRETS = `/api/v1/namespaces/${NAMESPACE}/secrets`;
const SECRET = `${SECRETS}/${KEYS_SECRET}`;
const DAY = 24 * 3_600_000;

describe('the serving CA of all replicas', () => {
  let cluster: RegisteredCluster;
  let client: ClusterConnection;
  let manifests: string;
  let stop: AbortController;
  let running: Promise<unknown>[];
  let lines: string[];
  /** The replica behind the Service. */
  const front = createServer((_request, response) => {
    response.setHeader('connection', 'close').end('ok');
  });

  before(async () => {
    cluster = await sharedCluster();
    client = new ClusterConnection({
      kubeConfig: kubeConfigSource(await cluster.controlPlane.kubeconfigFor(SERVER_USER)),
    });
    await listenOnLoopback(front);
    manifests = developmentManifests(namesFor('platform'), portOf(front));
  });

  beforeEach(async () => {
    stop = new AbortController();
    running = [];
    lines = [];
    await cluster.controlPlane.client.expect(SECRET, { method: 'DELETE' }, [200, 404]);
    await cluster.apply(manifests);
  });

  afterEach(async () => {
    stop.abort();
    await Promise.all(running);
    for (const path of [API_SERVICE_PATH, SECRET]) {
      await cluster.controlPlane.client.expect(path, { method: 'DELETE' }, [200, 404]);
    }
  });

  after(async () => {
    await closeNow(front);
    client.close();
  });

  async function replica(now: () => Date = () => new Date()): Promise<IssuedCertificate> {
    const log = pino({ level: 'info' }, { write: (line) => lines.push(line) });
    const secret = new SharedSecret({ client, namespace: NAMESPACE, name: KEYS_SECRET, log });
    const certificate = new IssuedCertificate({
      names: [`ks-apiserver.${NAMESPACE}.svc`, '127.0.0.1'],
      secret,
      log,
      metrics: newCertificateMetrics(createRegistry()),
      now,
    });
    await certificate.start(stop.signal);
    const registration = new Registration({
      apiServices: [API_SERVICE],
      manageCABundle: true,
      client,
      servingCA: {
        current: () => (certificate.ready ? certificate.current().ca : undefined),
        onChange: (listener) => certificate.onChange(listener),
      },
      log,
    });
    running.push(secret.run(stop.signal), registration.run(stop.signal));
    return certificate;
  }

  /** Requests to the Service reach this replica. */
  function route(certificate: IssuedCertificate): void {
    const serve = () => front.setSecureContext(certificate.current());
    serve();
    const unsubscribe = certificate.onChange(serve);
    stop.signal.addEventListener('abort', unsubscribe, { once: true });
  }

  const bundle = async (): Promise<string> =>
    readApiService(await cluster.controlPlane.client.get(API_SERVICE_PATH))?.caBundle ?? '';

  async function status(): Promise<number> {
    return (await cluster.controlPlane.client.send('/apis/resources.platform.io/v1alpha3/nodes')).status;
  }

  /** Sends requests through kube-apiserver, each on a new connection, while `change` runs. None may fail. */
  async function withoutFailure(change: () => Promise<void>): Promise<void> {
    await until(async () => (await status()) === 200);
    const done = new AbortController();
    const statuses = new Set<number>();
    const load = (async () => {
      while (!done.signal.aborted) statuses.add(await status());
    })();
    try {
      await change();
      for (let after = 0; after < 20; after++) statuses.add(await status());
    } finally {
      done.abort();
      await load;
    }
    expect([...statuses]).to.deep.equal([200]);
  }

  async function stored(): Promise<string> {
    const data = recordIn(await cluster.controlPlane.client.get(SECRET), 'data')[AUTHORITIES_ENTRY];
    return Buffer.from(text(data), 'base64').toString('utf8');
  }

  async function store(content: string): Promise<void> {
    const body = { data: { [AUTHORITIES_ENTRY]: Buffer.from(content).toString('base64') } };
    const contentType = 'application/merge-patch+json';
    await cluster.controlPlane.client.expect(SECRET, { method: 'PATCH', body, contentType }, [200]);
  }

  const isIssuedBy = (certificate: IssuedCertificate, ca = ''): boolean =>
    new X509Certificate(certificate.current().cert).verify(new X509Certificate(ca).publicKey);

  function expectNoKeyInLogs(content: string): void {
    for (const { key } of JSON.parse(content) as KeyPair[]) {
      for (const secret of key.split('\n').filter((line) => line !== '' && !line.startsWith('-----'))) {
        expect(inspect(lines)).not.to.include(secret);
      }
    }
  }

  it('is created once by replicas that start at the same time, and is exactly the bundle', async () => {
    const replicas = await Promise.all([replica(), replica(), replica()]);
    const [first] = replicas;
    if (!first) throw new Error('no replica');
    await until(() => replicas.every(({ ready }) => ready));
    expect(new Set(replicas.map((one) => one.current().ca)).size).to.equal(1);
    for (const one of replicas) expect(isIssuedBy(one, first.current().ca)).to.equal(true);
    await until(async () => (await bundle()) === first.current().ca);
    route(first);
    await until(async () => (await status()) === 200);
    expect(lines.filter((line) => line.includes('"serving CA created"'))).to.have.length(1);
    expectNoKeyInLogs(await stored());
  });

  it('is rotated by one replica, beside the former CA, and no request fails', async () => {
    let ahead = -2 * DAY;
    const now = (): Date => new Date(Date.now() + ahead);
    const former = await createAuthority(now(), 91 * DAY);
    await store(JSON.stringify([former]));
    const replicas = [await replica(now), await replica(now)];
    const [one, other] = replicas;
    if (!one || !other) throw new Error('no replica');
    await until(() => replicas.every(({ ready }) => ready));
    route(one);
    await withoutFailure(async () => {
      await Promise.all(replicas.map((each) => each.renew()));
      await until(() => replicas.every((each) => pemCertificates(each.current().ca).length === 2));
      await until(async () => (await bundle()) === one.current().ca);
      expect(other.current().ca).to.equal(one.current().ca);
      for (const each of replicas) expect(isIssuedBy(each, former.certificate)).to.equal(true);
      // The former CA cannot outlive a new certificate, so its successor issues this one.
      ahead = 0;
      const started = await replica(now);
      await until(() => started.ready);
      expect(isIssuedBy(started, pemCertificates(one.current().ca)[0])).to.equal(true);
      route(started);
    });
    ahead = 61 * DAY;
    await one.renew();
    expect(isIssuedBy(one, pemCertificates(one.current().ca)[0])).to.equal(true);
    // The former CA has expired.
    ahead = 90 * DAY;
    await Promise.all(replicas.map((each) => each.renew()));
    await until(() => replicas.every((each) => pemCertificates(each.current().ca).length === 1));
    expectNoKeyInLogs(await stored());
  });

  it('is created again after its Secret was deleted, and no request fails', async () => {
    const replicas = [await replica(), await replica()];
    const [one] = replicas;
    if (!one) throw new Error('no replica');
    await until(() => replicas.every(({ ready }) => ready));
    await until(async () => (await bundle()) === one.current().ca);
    route(one);
    const former = one.current().ca;
    await withoutFailure(async () => {
      await cluster.controlPlane.client.expect(SECRET, { method: 'DELETE' }, [200]);
      await until(() => lines.some((line) => line.includes('"cannot create the serving CA"')));
      await cluster.apply(manifests);
      await until(() => replicas.every((each) => each.current().ca !== former));
      expect(isIssuedBy(one, former)).to.equal(true);
      await until(async () => (await bundle()).includes(one.current().ca.trim()));
      expect(await bundle()).to.include(former.trim());
      await Promise.all(replicas.map((each) => each.renew()));
      for (const each of replicas) expect(isIssuedBy(each, one.current().ca)).to.equal(true);
    });
  });

  it('is neither used nor overwritten when it is invalid', async () => {
    const one = await replica();
    await until(() => one.ready);
    await until(async () => (await bundle()) === one.current().ca);
    const { cert, ca } = one.current();
    const [valid] = JSON.parse(await stored()) as KeyPair[];
    const { key } = await createAuthority(new Date(), DAY);
    const broken = JSON.stringify([{ ...valid, key }]);
    for (const content of ['MIGHAgEAMBMGByqGSM49', '[]', broken]) {
      lines.length = 0;
      await store(content);
      await until(() => lines.some((line) => line.includes('"the Secret of the serving CA is invalid"')));
      await one.renew();
      expect(await stored()).to.equal(content);
    }
    expect(one.current()).to.deep.include({ cert, ca });
    expectNoKeyInLogs(broken);
    const started = await replica();
    await until(() => lines.filter((line) => line.includes('is invalid')).length > 1);
    expect(started.ready).to.equal(false);
    expect(await bundle()).to.equal(ca);
  });
});
