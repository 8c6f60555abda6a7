// Benchmark: rate of password grants and of refresh grants with rotation. The baselines are Dex and oidc-provider.
import { hash as argon2 } from '@node-rs/argon2';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { buildDex } from '../../peers/build.ts';
import { type Peer, type PeerOptions, startDex, startOIDCProvider } from '../../peers/peer.ts';
import { pinned } from '../measuring/machine.ts';
import { cpuSeconds } from '../measuring/process-usage.ts';
import { interleaved, median } from '../measuring/statistics.ts';
import { CLIENT, TokenClient } from '../measuring/token-client.ts';
import {
  AT_A_TIME,
  addUsers,
  PASSWORD,
  refreshing,
  repeat,
  USERS,
  untilSynced,
  userOf,
} from '../scene/crowd.ts';
import type { Scene } from '../scene/scene.ts';
import { atLeast, informs, milliseconds, perSecond, type Row } from './row.ts';

const ROUNDS = 3;
/** The default of Dex and most others. */
const BCRYPT_COST = 10;
/** Scope of each sign-in: Dex issues an ID token only with this scope. */
const SCOPE = 'openid';
const DEX_SCOPE = 'openid offline_access';

interface Side {
  readonly pid: number;
  readonly client: TokenClient;
}

interface Measured {
  readonly rate: number;
  /** CPU of its process per operation, in ms. */
  readonly cpu: number;
}

export async function peerRows(scene: Scene): Promise<readonly Row[]> {
  const { direct, progress, server, signal } = scene;
  await addUsers(scene);
  const options = {
    certificate: scene.serving,
    client: { id: CLIENT.client_id, secret: CLIENT.client_secret },
    users: USERS,
    signal,
  };
  const peers: Peer[] = [];
  const clients: TokenClient[] = [];
  const side = async (pid: number, url: string, path: string, scope: string): Promise<Side> => {
    const client = await TokenClient.connect(url, direct.ca, 2 * AT_A_TIME, { path, scope });
    clients.push(client);
    return { pid, client };
  };
  const started = async (peer: Promise<Peer>, scope: string): Promise<Side> => {
    const { pid, url, tokenPath, ...rest } = await peer;
    peers.push({ pid, url, tokenPath, ...rest });
    return side(pid, url, tokenPath, scope);
  };
  try {
    const ours = await side(server.pid, server.url, '/oauth/token', SCOPE);
    await untilSynced(ours.client, signal);
    const provider = { ...options, passwordHash: await argon2(PASSWORD) } satisfies PeerOptions;
    const dexOptions = { ...options, passwordHash: await bcrypt(PASSWORD, { cost: BCRYPT_COST }) };
    // The modules of Dex may be unavailable; then measure the other rows without it.
    const program = await buildDex({ env: process.env, signal, progress }).catch((error: unknown) => {
      signal.throwIfAborted();
      progress(`without Dex: ${String(error)}`);
    });
    const sides: Readonly<Record<string, Side>> = {
      ours,
      provider: await started(startOIDCProvider(provider), DEX_SCOPE),
      ...(program === undefined
        ? {}
        : { dex: await started(startDex(dexOptions, program, scene.kubeconfig), DEX_SCOPE) }),
    };
    const passwords = await measured(scene, sides, async (client) => {
      return (turn) => client.signIn(userOf(turn), PASSWORD);
    });
    const refreshes = await measured(scene, sides, refreshing);
    return [
      ...row(
        'sign in with a password, compared with Dex',
        passwords['dex'],
        passwords['ours'],
        'Dex hashes with bcrypt (cost 10), signs with RS256, and stores sessions in the same cluster',
      ),
      ...row(
        'sign in with a password, compared with oidc-provider',
        passwords['provider'],
        passwords['ours'],
        'oidc-provider hashes with the same argon2id, signs with ES256 too, and stores sessions in memory, not in the cluster',
      ),
      ...row(
        'refresh a token, compared with Dex',
        refreshes['dex'],
        refreshes['ours'],
        'both servers store sessions in the same cluster',
      ),
      ...row(
        'refresh a token, compared with oidc-provider',
        refreshes['provider'],
        refreshes['ours'],
        'oidc-provider stores sessions in memory; ours writes them to the cluster',
      ),
    ];
  } finally {
    for (const client of clients) client.close();
    await Promise.all(peers.map((peer) => peer.stop()));
  }
}

type Work = (turn: number, lane: number) => Promise<unknown>;

/** Measures all servers alternately, each on its own core. */
function measured(
  { machine, options }: Scene,
  sides: Readonly<Record<string, Side>>,
  prepare: (client: TokenClient) => Promise<Work>,
): Promise<Readonly<Record<string, readonly Measured[]>>> {
  const measure =
    ({ pid, client }: Side) =>
    (): Promise<Measured> =>
      pinned(pid, machine, async () => {
        const work = await prepare(client);
        const before = await cpuSeconds(pid);
        const began = performance.now();
        const done = await repeat(options.seconds, work);
        const seconds = (performance.now() - began) / 1000;
        return { rate: done / seconds, cpu: (((await cpuSeconds(pid)) - before) / done) * 1000 };
      });
  const all = Object.entries(sides).map(([name, side]) => [name, measure(side)] as const);
  return interleaved(ROUNDS, Object.fromEntries(all));
}

/** Returns no row if the peer is missing. */
function row(
  work: string,
  peer: readonly Measured[] = [],
  ours: readonly Measured[] = [],
  how = '',
): readonly Row[] {
  if (peer.length === 0) return [];
  const rate = (side: readonly Measured[]): number => median(side.map(({ rate }) => rate));
  const cpu = (side: readonly Measured[]): string => milliseconds(median(side.map(({ cpu }) => cpu)));
  const note = `${how}; one core for each server; CPU per operation ${cpu(peer)}, ours ${cpu(ours)}`;
  return [informs(atLeast(work, rate(peer), rate(ours), 1, perSecond), note)];
}
