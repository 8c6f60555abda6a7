// Attack tests: while one caller floods the server, the requests of others succeed, and stay about as fast as before.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { PASSWORD, PLATFORM_CLIENT, Platform } from '../platform.ts';
import { type Probe, Prober } from './prober.ts';
import { RawFlood } from './raw-flood.ts';

const NODES = '/apis/resources.platform.io/v1alpha3/nodes';
const LISTS = '/kapis/resources.platform.io/v1alpha3';
const FORM = 'Content-Type: application/x-www-form-urlencoded';
/** Small limits: the floods of the tests exceed them with few connections. */
const LIMITS = {
  listeners: { limits: { connections: 1_200 } },
  requests: { seats: 60, streams: 1_000 },
};

describe('a flood', function () {
  this.timeout(300_000);
  let platform: Platform;
  let prober: Prober;
  let probes: readonly Probe[];
  const tokens = new Map<string, string>();

  before(async () => {
    platform = await Platform.start(200, { configure: async () => LIMITS });
    // The sign-ins of carl end his oldest sessions.
    for (const name of ['ada', 'bob', 'carl']) await platform.addUser(name);
    await platform.succeeding(
      'create clusterrole node-reader --verb=get,list,watch --resource=nodes,nodes.resources.platform.io',
    );
    await platform.bind('node-reader', '--user=ada');
    await platform.bind('cluster-admin', '--user=bob');
    await platform.succeeding('create namespace evil-0');
    await platform.succeeding('create serviceaccount narrow -n evil-0');
    await platform.bind('view', '--serviceaccount=evil-0:narrow', 'evil-0');
    tokens.set('narrow', (await platform.succeeding('create token narrow -n evil-0')).trim());
    for (const name of ['ada', 'bob']) tokens.set(name, await platform.signIn(name));
    await Promise.all(['evil-1', 'evil-2', 'evil-3'].map(createAccounts));
    const token = tokens.get('bob') ?? '';
    probes = [
      { name: 'readyz', path: '/readyz' },
      { name: 'list of nodes', path: `${LISTS}/nodes?limit=5`, request: { token } },
      { name: 'gateway', path: '/api/v1/namespaces/default', request: { token } },
    ];
    prober = new Prober(platform.server.url, platform.controlPlane.ca, probes);
  });

  after(async () => {
    prober?.[Symbol.dispose]();
    await platform?.stop();
  });

  /** Creates a namespace with three ServiceAccounts. */
  async function createAccounts(namespace: string): Promise<void> {
    await platform.succeeding('create namespace', namespace);
    for (const account of ['a', 'b', 'c']) {
      await platform.succeeding(`create serviceaccount ${account} -n`, namespace);
      await platform.bind('view', `--serviceaccount=${namespace}:${account}`);
      await platform.bind('node-reader', `--serviceaccount=${namespace}:${account}`);
      tokens.set(
        `${namespace}/${account}`,
        (await platform.succeeding('create token', account, '-n', namespace, '--duration=1h')).trim(),
      );
    }
  }

  const flood = (localAddress = '127.0.2.1'): RawFlood =>
    new RawFlood({
      port: Number(new URL(platform.server.url).port),
      ca: platform.controlPlane.ca,
      localAddress,
    });
  const get = (path: string, token?: string): string =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\n${token === undefined ? '' : `Authorization: Bearer ${token}\r\n`}\r\n`;

  it('of pipelined requests for a public file that the client never reads', () =>
    prober.withstands(() => flood().unread(15, () => get('/openapi/page/swagger-ui-bundle.js').repeat(32))));

  it('of sign-ins', async () => {
    const body =
      'grant_type=password&username=nobody&password=wrong&client_id=platform&client_secret=platform';
    const signIn = `POST /oauth/token HTTP/1.1\r\nHost: x\r\n${FORM}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const form = new URLSearchParams({
      grant_type: 'password',
      username: 'carl',
      password: PASSWORD,
      ...PLATFORM_CLIENT,
    });
    const request = { method: 'POST', body: form } as const;
    using signingIn = new Prober(platform.server.url, platform.controlPlane.ca, [
      ...probes,
      { name: 'sign-in', path: '/oauth/token', request },
    ]);
    await signingIn.withstands(() => flood().repeat(9, () => signIn, 32));
  });

  for (const [what, namespaces] of [
    ['one namespace', ['evil-1']],
    ['three namespaces', ['evil-1', 'evil-2', 'evil-3']],
  ] as const) {
    it(`of three ServiceAccounts of ${what} at the gateway, whose requests hang`, () => {
      const accounts = [0, 1, 2].map((i) => `${namespaces[i % namespaces.length]}/${'abc'[i]}`);
      // kube-apiserver waits three seconds for this version.
      const hanging = '/api/v1/pods?resourceVersion=4611686018427387904&resourceVersionMatch=NotOlderThan';
      return prober.withstands(() =>
        flood().repeat(72, (i) => get(hanging, tokens.get(accounts[i % 3] ?? '')), 8),
      );
    });
  }

  it('of requests whose body never arrives', () =>
    prober.withstands(() =>
      flood().unread(
        200,
        () => `POST /oauth/token HTTP/1.1\r\nHost: x\r\n${FORM}\r\nContent-Length: 100\r\n\r\nx`,
      ),
    ));

  it('of large lists that the client never reads', () =>
    prober.withstands(() =>
      flood().unread(150, (i) =>
        get(i % 2 === 0 ? NODES : '/api/v1/nodes', tokens.get('evil-1/a')).repeat(8),
      ),
    ));

  it('of watches that the client never reads', async () => {
    const watches: Probe[] = [
      {
        name: 'watch',
        path: `${NODES}?watch=1&timeoutSeconds=1`,
        request: { token: tokens.get('bob') ?? '' },
      },
      {
        name: 'watch through the gateway',
        path: '/api/v1/namespaces?watch=1&timeoutSeconds=1',
        request: { token: tokens.get('bob') ?? '' },
      },
    ];
    using watching = new Prober(platform.server.url, platform.controlPlane.ca, watches);
    await using _flood = await flood().unread(150, () => get(`${NODES}?watch=1`, tokens.get('evil-1/a')));
    await using _other = await flood().unread(220, () =>
      get('/api/v1/nodes?watch=1', tokens.get('evil-1/b')),
    );
    for (const [name, { statuses }] of await watching.measure(3)) {
      expect(statuses, name).to.deep.equal(new Set([200]));
    }
  });

  it('of reviews of a thousand namespaces each', () =>
    prober.withstands(() =>
      flood().repeat(4, () => {
        const names = Array.from({ length: 1_000 }, () => Math.random().toString(36).slice(2, 9));
        return get(`${LISTS}/configmaps?namespaces=${names.join()}`, tokens.get('narrow'));
      }),
    ));

  it('of more live lists than there are streams, while the objects change', async () => {
    const end = new AbortController();
    const changing = (async () => {
      for (let i = 0; !end.signal.aborted; i++) {
        await platform.succeeding('annotate node --all --overwrite', `flood=${i}`);
      }
    })();
    const token = tokens.get('bob') ?? '';
    using watching = new Prober(platform.server.url, platform.controlPlane.ca, [
      { name: 'list of nodes', path: `${LISTS}/nodes?limit=5`, request: { token } },
      { name: 'gateway', path: '/api/v1/namespaces/default', request: { token } },
      { name: 'watch', path: `${NODES}?watch=1&timeoutSeconds=1`, request: { token } },
    ]);
    const live = (i: number): string =>
      get(`${LISTS}/nodes?limit=${(i % 100) + 1}`, tokens.get('evil-1/a')).replace(
        'Host',
        'Accept: text/event-stream\r\nHost',
      );
    try {
      await watching.withstands(() => flood().read(1_050, live), 4);
    } finally {
      end.abort();
      await changing;
    }
  });

  it('of more idle connections than the listener accepts', async () => {
    await using _idle = await flood().unread(1_300, () => '');
    await prober.works();
    for (const [name, { statuses }] of await prober.measure(5)) {
      expect(statuses, name).to.deep.equal(new Set([200]));
    }
  });

  it('of invalid tokens', async () => {
    const fresh = await platform.succeeding('create token a -n evil-2');
    using known = new Prober(platform.server.url, platform.controlPlane.ca, [
      { name: 'known token', path: NODES, request: { token: tokens.get('ada') ?? '' } },
      { name: 'new token', path: '/api/v1/namespaces/default', request: { token: fresh.trim() } },
    ]);
    await known.withstands(() => flood().repeat(100, () => get(NODES, randomUUID())));
  });
});
