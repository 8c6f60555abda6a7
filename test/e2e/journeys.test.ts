// Tests of server/README.md, which lists the source files for each kind of request. The test measures which source
// files a running server executes.
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { text } from '../../apis/reading/unknown-value.ts';
import { type Answer, Client } from '../../hack/control-plane/client.ts';
import { logData } from '../../hack/log-data/log-data.ts';
import { loadOpenSearch } from '../../hack/log-stores/load-opensearch.ts';
import type { LogStoreProcess } from '../../hack/log-stores/log-store.ts';
import { startOpenSearch } from '../../hack/log-stores/opensearch.ts';
import { JOURNEYS_DOCUMENT, journeysIn } from '../support/journeys.ts';
import { requireJava } from '../support/logging/require-java.ts';
import { until } from '../support/until.ts';
import { PASSWORD, PLATFORM_CLIENT, Platform } from './platform.ts';

const ROOT = join(import.meta.dirname, '../..');
const PROBE = join(ROOT, 'test/support/function-coverage.ts');
const NODES = '/apis/resources.platform.io/v1alpha3/nodes';
const LISTED = '/kapis/resources.platform.io/v1alpha3/namespaces/kube-system/configmaps';
const FORWARDED = '/api/v1/namespaces/default';
const LOGS = '/kapis/logging.platform.io/v1alpha2/logs';
/** Requests whose files are excepted from the lists: the filter chain, without a handler of a listed request. */
const BASELINES = [
  '/metrics',
  '/apis/resources.platform.io/v1alpha3',
  // A resource without a handler, for the labels of metrics.
  '/apis/resources.platform.io/v1alpha3/absent',
  '/readyz?verbose',
];
const SETTLE_MS = 300;
const RUNS = 4;
/** Longer than the longest of the short watches of the server, whose end is not part of a journey. */
const BASELINE_MS = 11_000;

describe('the journeys of server/README.md', function () {
  this.timeout(300_000);

  let dir: string;
  let stop: AbortController;
  let platform: Platform;
  let store: LogStoreProcess;
  let token: string;
  let documented: ReadonlyMap<string, readonly string[]>;
  let background: ReadonlySet<string>;

  before(async function () {
    await requireJava(this);
    dir = await mkdtemp(join(tmpdir(), 'ks-journeys-'));
    stop = new AbortController();
    store = await startOpenSearch({ dir, signal: stop.signal });
    await loadOpenSearch(store.url, logData({ lines: 2_000 }).records(), { indexPrefix: 'logs' });
    const logging = { store: 'opensearch', opensearch: { urls: [store.url], indexPrefix: 'logs' } };
    const configure = async () => ({ logging, log: { level: 'debug' } });
    platform = await Platform.start(3, { imports: [PROBE], configure });
    for (const subject of ['--serviceaccount=default:default', '--user=ada']) {
      await platform.bind('cluster-admin', subject);
    }
    token = (await platform.succeeding('create token default')).trim();
    documented = journeysIn(await readFile(join(ROOT, JOURNEYS_DOCUMENT), 'utf8'));
    for (const path of [NODES, LOGS, FORWARDED]) await until(async () => (await ask(path)).status === 200);
    await executed();
    const { pki, ca } = platform.controlPlane;
    const pair = await pki.issueClient({ cn: 'ada' });
    using caller = new Client(platform.server.url, { ca, pair });
    for (const path of BASELINES) await Promise.all([ask(path), caller.send(path)]);
    // A change that the server watches, because a sign-in causes one too.
    await platform.addUser('jane');
    await delay(BASELINE_MS);
    background = new Set(await executed());
  });

  after(async () => {
    await platform?.stop();
    stop.abort();
    await store?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  const ask = (path: string): Promise<Answer> => platform.client.send(path, { token });

  async function executed(): Promise<readonly string[]> {
    return (await platform.server.ask('executed-files')) as string[];
  }

  /** Files that ran in each of several runs, so that timers of the server do not count, and for no other request. */
  async function filesOf(work: () => Promise<unknown>): Promise<string[]> {
    const runs: ReadonlySet<string>[] = [];
    for (let run = 0; run < RUNS; run++) {
      await executed();
      await work();
      await delay(SETTLE_MS);
      runs.push(new Set(await executed()));
    }
    const [first, ...others] = runs;
    const common = [...(first ?? [])].filter((file) => others.every((other) => other.has(file)));
    return common.filter((file) => !background.has(file)).toSorted();
  }

  function check(title: string, measured: readonly string[], goal: number): void {
    const listed = documented.get(title) ?? [];
    expect(
      measured.filter((file) => !listed.includes(file)),
      `missing in ${title}`,
    ).to.deep.equal([]);
    expect(listed.length, title).to.be.at.most(goal);
  }

  it('list the files of a list of nodes', async () => {
    check('List nodes', await filesOf(() => ask(NODES)), 12);
  });

  it('list the files of a watch', async () => {
    check('Watch nodes', await filesOf(() => ask(`${NODES}?watch=true&timeoutSeconds=1`)), 13);
  });

  it('list the files of a list for a console', async () => {
    const page = `${LISTED}?sortBy=name&ascending=true&limit=10&labelSelector=a!=b`;
    await until(async () => (await ask(page)).status === 200);
    check('List pods for a console', await filesOf(() => ask(page)), 25);
  });

  it('list the files of a search over kinds', async () => {
    const search = '/kapis/resources.platform.io/v1alpha3/search?q=kube-root&limit=5';
    await until(async () => (await ask(search)).status === 200);
    check('Search over kinds', await filesOf(() => ask(search)), 13);
  });

  it('list the files of a forwarded request', async () => {
    check('Forward a request', await filesOf(() => ask(FORWARDED)), 12);
  });

  it('list the files of the password grant', async () => {
    await platform.signIn('jane');
    check('Password grant', await filesOf(() => platform.grant('jane', PASSWORD)), 19);
  });

  it('list the files of a refresh', async () => {
    let { body } = await platform.grant('jane', PASSWORD);
    const refresh = async (): Promise<void> => {
      const form = {
        grant_type: 'refresh_token',
        refresh_token: text(body['refresh_token']),
        ...PLATFORM_CLIENT,
      };
      const answer = await platform.ask('/oauth/token', { method: 'POST', body: new URLSearchParams(form) });
      expect(answer.status).to.equal(200);
      ({ body } = answer);
    };
    check('Refresh a session', await filesOf(refresh), 15);
  });

  it('list the files of an OpenSearch query', async () => {
    check('Query logs in OpenSearch', await filesOf(() => ask(`${LOGS}?log_query=timeout&size=5`)), 21);
  });

  it('list the files of a certificate reload', async () => {
    const served = async (): Promise<string> => {
      const port = Number(new URL(platform.server.url).port);
      const socket = connect({ port, host: '127.0.0.1', ca: platform.controlPlane.ca });
      await once(socket, 'secureConnect');
      const { fingerprint256 } = socket.getPeerCertificate();
      socket.destroy();
      return fingerprint256;
    };
    const measured = await filesOf(async () => {
      const before = await served();
      await platform.rotateServingCertificate();
      await until(async () => (await served()) !== before);
    });
    check('Certificate reload', measured, 8);
  });
});
