// Tests of server/README.md, which lists the source files for each kind of request. The test measures which source
// files a running server executes.
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { text } from '../../../apis/reading/unknown-value.ts';
import { logData } from '../../../hack/log-data/log-data.ts';
import { loadOpenSearch } from '../../../hack/log-stores/load-opensearch.ts';
import type { LogStoreProcess } from '../../../hack/log-stores/log-store.ts';
import { startOpenSearch } from '../../../hack/log-stores/opensearch.ts';
import { JOURNEYS_DOCUMENT, journeysIn, SHARED } from '../../support/journeys.ts';
import { requireJava } from '../../support/logging/require-java.ts';
import { authorizationQuery } from '../../support/oauth/authorization-query.ts';
import { askSite } from '../../support/oauth/site-request.ts';
import { until } from '../../support/until.ts';
import { WebSocketClient } from '../../support/web-socket-client.ts';
import { GatewayPlatform } from '../gateway/gateway-platform.ts';
import { cacheResult } from '../gateway/raw-request.ts';
import { PASSWORD, PLATFORM_CLIENT, type Platform } from '../platform.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PROBE = join(ROOT, 'test/support/function-coverage.ts');
const NODES = '/apis/resources.platform.io/v1alpha3/nodes';
const LISTS = '/kapis/resources.platform.io/v1alpha3';
const PODS = '/api/v1/pods?resourceVersion=0';
const LOGS = '/kapis/logging.platform.io/v1alpha2/logs';
const REDIRECT = 'https://console.example.com/callback';
const VERIFIER = 'v'.repeat(43);
/** Time in ms in which a server completes what a request started, for instance the record of its end. */
const SETTLE_MS = 300;
/** Time in ms in which most background tasks run, without a request. */
const IDLE_MS = 12_000;
/** Other background tasks run in some of these runs, the files of a journey in each. */
const RUNS = 30;

describe('the journeys of server/README.md', function () {
  this.timeout(300_000);

  let dir: string;
  let stop: AbortController;
  let gateway: GatewayPlatform;
  let platform: Platform;
  let store: LogStoreProcess;
  let token: string;
  let documented: ReadonlyMap<string, readonly string[]>;
  /** The functions that ran without a request. */
  let background: ReadonlyMap<string, string>;

  before(async function () {
    await requireJava(this);
    dir = await mkdtemp(join(tmpdir(), 'ks-journeys-'));
    stop = new AbortController();
    store = await startOpenSearch({ dir, signal: stop.signal });
    await loadOpenSearch(store.url, logData({ lines: 2_000 }).records(), { indexPrefix: 'logs' });
    const secret = join(dir, 'client-secret');
    await writeFile(secret, PLATFORM_CLIENT.client_secret);
    const client = {
      id: PLATFORM_CLIENT.client_id,
      secretFiles: [secret],
      grants: ['password', 'refresh_token', 'authorization_code'],
      redirectURIs: [REDIRECT],
    };
    const configuration = {
      logging: { store: 'opensearch', opensearch: { urls: [store.url], indexPrefix: 'logs' } },
      gateway: { acceleration: true },
      oauth: { clients: [client] },
      log: { level: 'debug' },
    };
    gateway = await GatewayPlatform.start({ imports: [PROBE], configure: async () => configuration });
    ({ platform } = gateway);
    await gateway.createUser('ada');
    await platform.bind('cluster-admin', '--user=ada');
    token = await gateway.signIn('ada');
    documented = journeysIn(await readFile(join(ROOT, JOURNEYS_DOCUMENT), 'utf8'));
    // The server follows these kinds from now on.
    for (const path of [NODES, `${LISTS}/pods`, `${LISTS}/search?q=kube-root`]) await read(path);
    // What completes these requests is no background work.
    await delay(SETTLE_MS);
    await executed();
    await delay(IDLE_MS);
    background = await executed();
  });

  after(async () => {
    await gateway?.stop();
    stop?.abort();
    await store?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  async function read(path: string): Promise<void> {
    const { status, body } = await platform.client.send(path, { token });
    expect(status, body).to.equal(200);
  }

  /** The functions that ran since the last call, by their place. The value is the file. */
  async function executed(): Promise<ReadonlyMap<string, string>> {
    const functions = (await platform.server.ask('executed-functions')) as [string, number][];
    return new Map(functions.map(([file, offset]) => [`${file}:${offset}`, file]));
  }

  /** Checks that the work runs only files that its journey lists. `goal`: maximum length of the list. */
  async function check(title: string, goal: number, work: () => Promise<unknown>): Promise<void> {
    const listed = documented.get(title) ?? [];
    expect(listed.length, title).to.be.at.most(goal);
    const known = new Set([...SHARED, title].flatMap((each) => documented.get(each) ?? []));
    // The caches are filled, and the server follows what the request reads.
    await until(() =>
      work().then(
        () => true,
        () => false,
      ),
    );
    let missing: ReadonlySet<string> | undefined;
    for (let run = 0; run < RUNS && missing?.size !== 0; run++) {
      await executed();
      await work();
      await delay(SETTLE_MS);
      const ran = [...(await executed())].filter(
        ([place, file]) => !background.has(place) && !known.has(file),
      );
      const files = new Set(ran.map(([, file]) => file));
      missing = missing?.intersection(files) ?? files;
    }
    expect([...(missing ?? [])].toSorted(), `missing in ${title}`).to.deep.equal([]);
  }

  it('list the files of a list of nodes', async () => {
    const page = `${NODES}?labelSelector=kubernetes.io/os=linux&limit=1`;
    await check('List nodes', 17, () => read(page));
  });

  it('list the files of a watch', async () => {
    await check('Watch nodes', 17, () => read(`${NODES}?watch=true&timeoutSeconds=1`));
  });

  it('list the files of a list for a console', async () => {
    const path = `${LISTS}/pods?sortBy=name&ascending=true&limit=10&labelSelector=a!=b`;
    await check('List pods for a console', 25, () => read(path));
  });

  it('list the files of a search over kinds', async () => {
    await check('Search over kinds', 19, () => read(`${LISTS}/search?q=kube-root&limit=5`));
  });

  it('list the files of a forwarded request', async () => {
    await check('Forward a request', 16, () => read('/api/v1/namespaces/default'));
  });

  it('list the files of an accelerated list', async () => {
    const accelerated = async (): Promise<void> => {
      const lines = [`GET ${PODS} HTTP/1.1`, `Authorization: Bearer ${token}`];
      const response = await gateway.raw('gateway', lines);
      expect(cacheResult(response)).to.equal('hit');
    };
    await check('Accelerate a list', 25, accelerated);
  });

  it('list the files of an exec', async () => {
    const { namespace, name, container } = gateway.pod;
    const query = `container=${container}&command=true&stdout=true`;
    const url = `${platform.server.url.replace('https', 'wss')}/api/v1/namespaces/${namespace}/pods/${name}/exec?${query}`;
    const exec = async (): Promise<void> => {
      const client = await WebSocketClient.connect({
        url,
        tls: { ca: platform.controlPlane.ca },
        headers: { authorization: `Bearer ${token}` },
        protocols: ['v5.channel.k8s.io'],
      });
      expect(client.status, client.body).to.equal(101);
      while ((await client.next())[0] !== 'close');
    };
    await check('Execute a command in a pod', 10, exec);
  });

  it('list the files of the password grant', async () => {
    await check('Password grant', 21, async () => {
      expect((await platform.grant('ada', PASSWORD)).status).to.equal(200);
    });
  });

  it('list the files of a code', async () => {
    const site = (path: string, request = {}) => askSite(`${platform.server.url}${path}`, request);
    const code = async (): Promise<void> => {
      const query = authorizationQuery(VERIFIER, {
        client_id: PLATFORM_CLIENT.client_id,
        redirect_uri: REDIRECT,
      });
      const page = await site(`/oauth/authorize?${query}`);
      const ticket = /name="ticket" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
      const cookie = page.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
      const signedIn = await site('/oauth/sign-in', {
        form: { ticket, username: 'ada', password: PASSWORD },
        headers: { cookie },
      });
      const code = new URL(signedIn.headers.location ?? '').searchParams.get('code') ?? '';
      const response = await site('/oauth/token', {
        form: {
          grant_type: 'authorization_code',
          ...PLATFORM_CLIENT,
          redirect_uri: REDIRECT,
          code_verifier: VERIFIER,
          code,
        },
      });
      expect(response.status, response.text).to.equal(200);
    };
    await check('Authorization code with PKCE', 45, code);
  });

  it('list the files of a refresh', async () => {
    let { body } = await platform.grant('ada', PASSWORD);
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
    await check('Refresh a session', 16, refresh);
  });

  it('list the files of an OpenSearch query', async () => {
    await check('Query logs in OpenSearch', 23, () => read(`${LOGS}?log_query=timeout&size=5`));
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
    await check('Certificate reload', 5, async () => {
      const before = await served();
      await platform.rotateServingCertificate();
      await until(async () => (await served()) !== before);
    });
  });
});
