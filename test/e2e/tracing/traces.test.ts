// Tests of traces: a server and a kube-apiserver that export their spans to the same collector.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { type Collector, type ReceivedSpan, startCollector } from '../../../hack/collector/collector.ts';
import { issueServer, newCA } from '../../support/certificates.ts';
import { until } from '../../support/until.ts';
import { Platform } from '../platform.ts';

const PACKAGES = join(import.meta.dirname, '../../support/loaded-packages.ts');
const NODES = '/apis/resources.platform.io/v1alpha3/nodes';
/** Token of a member of system:masters, whose traces kube-apiserver continues. */
const MASTER = 'token-of-the-master';
const SERVER = 2;
const CLIENT = 3;

describe('traces', () => {
  let dir: string;
  let stop: AbortController;
  let collector: Collector;
  let platform: Platform;
  let ada: string;

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'ks-traces-'));
    stop = new AbortController();
    const ca = await newCA('collector');
    const tls = { ...(await issueServer(ca)), ca: ca.cert };
    const caFile = join(dir, 'ca.crt');
    await writeFile(caFile, ca.cert);
    collector = await startCollector({ dir: join(dir, 'collector'), tls, signal: stop.signal });
    const tokens = join(dir, 'tokens.csv');
    await writeFile(tokens, `${MASTER},master,1,"system:masters"\n`);
    const kubernetes = join(dir, 'tracing.yaml');
    const configuration = {
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'TracingConfiguration',
      endpoint: collector.address,
      samplingRatePerMillion: 1_000_000,
    };
    await writeFile(kubernetes, stringify(configuration));
    platform = await Platform.start(3, {
      imports: [PACKAGES],
      flagsIn: async () => [`--tracing-config-file=${kubernetes}`, `--token-auth-file=${tokens}`],
      configure: async () => ({ tracing: { endpoint: collector.url, caFile }, log: { level: 'debug' } }),
    });
    await platform.addUser('ada');
    await platform.bind('cluster-admin', '--user=ada');
    ada = await platform.signIn('ada');
    await platform.accepted(ada);
  });

  after(async () => {
    await platform?.stop();
    await collector?.stop();
    stop?.abort();
    await rm(dir, { recursive: true, force: true });
  });

  /** Sends a request of a caller who samples, and returns its trace ID. */
  async function sampled(path: string, token = ada): Promise<string> {
    const traceID = randomBytes(16).toString('hex');
    const headers = { traceparent: `00-${traceID}-${'b'.repeat(16)}-01` };
    const { status, body } = await platform.client.send(path, {
      headers,
      ...(token === '' ? {} : { token }),
    });
    expect(status, body).to.equal(200);
    return traceID;
  }

  /** Resolves with the spans of a trace once `holds` is true for them. */
  async function spansOf(
    traceID: string,
    holds: (spans: readonly ReceivedSpan[]) => boolean,
  ): Promise<ReceivedSpan[]> {
    let found: ReceivedSpan[] = [];
    await until(async () => {
      found = (await collector.spans()).filter((span) => span.traceID === traceID);
      return holds(found);
    });
    return found;
  }

  const isOurs = ({ resource }: ReceivedSpan): boolean => resource['service.name'] === 'ks-apiserver';

  it('reach the collector with the time of each filter, and without secrets', async () => {
    const traceID = await sampled(`${NODES}?limit=1&continue=&labelSelector=secret`);
    const [span] = await spansOf(traceID, (spans) => spans.some(isOurs));
    expect(span).to.include({
      name: `GET ${NODES}`,
      kind: SERVER,
      parentID: 'b'.repeat(16),
      isFailed: false,
    });
    expect(span?.resource).to.include.keys('service.version', 'service.instance.id', 'k8s.namespace.name');
    expect(span?.attributes).to.include({ 'http.response.status_code': 200, 'http.route': NODES });
    const names = span?.events.map(({ name }) => name) ?? [];
    expect(names).to.include.members(['authentication', 'admission', 'authorization']);
    for (const { at } of span?.events ?? []) {
      expect(at >= (span?.startedAt ?? 0n) && at <= (span?.endedAt ?? 0n)).to.equal(true);
    }
    const ours = (await collector.spans()).filter(isOurs);
    const exported = JSON.stringify(ours, (_key, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    for (const secret of [ada, 'labelSelector', '"ada"', MASTER]) expect(exported).to.not.include(secret);
  });

  it('are continued by kube-apiserver for a forwarded request of a caller whom it lets', async () => {
    const traceID = await sampled('/api/v1/namespaces/default/configmaps?limit=1', MASTER);
    const spans = await spansOf(traceID, (found) => found.some(isOurs) && !found.every(isOurs));
    const calls = new Set(
      spans.filter((span) => isOurs(span) && span.kind === CLIENT).map(({ spanID }) => spanID),
    );
    const route = 'GET /api/v1/namespaces/{namespace}/configmaps';
    expect(spans.filter(isOurs).map(({ name }) => name)).to.include(route);
    const theirs = spans.filter((span) => !isOurs(span)).map(({ parentID }) => parentID);
    expect(theirs.filter((parentID) => calls.has(parentID))).to.have.length(1);
  });

  it('are linked by kube-apiserver to its spans of reviews and of forwarded requests of other callers', async () => {
    // Another namespace than any request before, so that the permission is not cached.
    const traceID = await sampled('/kapis/resources.platform.io/v1alpha3/namespaces/kube-public/configmaps');
    await until(async () => {
      const linked = (await collector.spans()).filter(({ links }) => links.includes(traceID));
      return linked.some(({ name }) => name.endsWith('/subjectaccessreviews'));
    });
    const forwarded = await sampled('/api/v1/namespaces/default/secrets?limit=1');
    await until(async () => (await collector.spans()).some(({ links }) => links.includes(forwarded)));
  });

  it('do not exist for callers without credentials, whatever they request', async () => {
    const hidden = await sampled('/livez', '');
    const seen = await sampled(NODES);
    await spansOf(seen, (spans) => spans.some(isOurs));
    expect((await collector.spans()).filter(({ traceID }) => traceID === hidden)).to.deep.equal([]);
  });

  it('of the last requests are exported at the stop, also after an outage of the collector', async () => {
    await collector.stop();
    const lost = await sampled(NODES);
    await collector.start();
    const last = await sampled(NODES);
    await platform.restartServer('SIGTERM');
    for (const traceID of [lost, last]) await spansOf(traceID, (spans) => spans.some(isOurs));
    expect(await platform.server.ask('loaded-packages')).to.include('@opentelemetry/otlp-transformer');
  });

  it('cost nothing without the option: the server does not load OpenTelemetry', async () => {
    const replica = await platform.startReplica('untraced', {}, [PACKAGES]);
    const packages = (await replica.ask('loaded-packages')) as string[];
    expect(packages).to.include('express');
    // prom-client loads the interfaces.
    expect(packages.filter((name) => /^@opentelemetry\/(?!api$)/.test(name))).to.deep.equal([]);
  });
});
