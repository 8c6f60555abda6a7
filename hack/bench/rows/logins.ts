// Signing in and out: password grants against the bare hash, refreshes with their writes, what a storm of sign-ins
// does to others, and how soon a revocation holds at another replica.
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { hash } from '@node-rs/argon2';
import { Client } from '../../control-plane/client.ts';
import { pinned } from '../machine.ts';
import { cpuSeconds } from '../process-usage.ts';
import { atLeast, milliseconds, perSecond, type Row } from '../row.ts';
import { OUR_NODES, type Scene } from '../scene.ts';
import { interleaved, median } from '../statistics.ts';
import { TokenClient } from '../token-client.ts';

const HASH_LOOP = join(import.meta.dirname, '../hash-loop.ts');
const PASSWORD = 'only for as long as the bench runs';
/** So many that nobody has too many sessions. */
const USERS = Array.from({ length: 100 }, (_, index) => `bench-login-${index}`);
const ROUNDS = 3;
const AT_A_TIME = 8;
const STORM_PER_SECOND = 100;
const STORM_P99_MS = 50;
const REVOCATIONS = 30;

export async function loginRows(scene: Scene): Promise<readonly Row[]> {
  await addUsers(scene);
  const { ca } = scene.direct;
  const issuer = `${scene.server.url.replace('127.0.0.1', 'localhost')}/oauth`;
  const other = await scene.another(undefined, { oauth: { issuer } });
  const clients = [
    await TokenClient.connect(scene.server.url, ca, 2 * AT_A_TIME),
    await TokenClient.connect(other.url, ca, 2 * AT_A_TIME),
  ] as const;
  try {
    await known(clients[0], scene.signal);
    await known(clients[1], scene.signal);
    return [
      await passwordRow(scene, clients[0]),
      await refreshRow(scene, clients[0]),
      await stormRow(scene, clients[0]),
      await revocationRow(...clients),
    ];
  } finally {
    for (const client of clients) client.close();
  }
}

async function passwordRow(scene: Scene, client: TokenClient): Promise<Row> {
  const { machine, options, server, signal } = scene;
  const loop = spawn(process.execPath, [HASH_LOOP], { stdio: ['pipe', 'pipe', 'inherit'], signal });
  loop.on('error', () => undefined);
  const lines = createInterface(loop.stdout)[Symbol.asyncIterator]();
  try {
    await lines.next();
    let cpu = 0;
    const seen = await interleaved(ROUNDS, {
      bare: () =>
        pinned(loop.pid ?? 0, machine, async () => {
          loop.stdin.write(`${options.seconds}\n`);
          const { value } = await lines.next();
          return Number(value);
        }),
      grants: () =>
        pinned(server.pid, machine, async () => {
          const before = await cpuSeconds(server.pid);
          const done = await repeat(options.seconds, (turn) => client.signIn(userOf(turn), PASSWORD));
          cpu = ((await cpuSeconds(server.pid)) - before) / done;
          return done / options.seconds;
        }),
    });
    return {
      ...atLeast('sign in with a password', median(seen.bare), median(seen.grants), 0.9, perSecond),
      note: `peer: argon2id alone; one core each; ours ${milliseconds(cpu * 1000)} of CPU a sign-in`,
      shortfall:
        'the hash takes 8 of the 12 ms of CPU that a sign-in takes; the rest is the write of its session to the cluster, two signatures and the request itself',
    };
  } finally {
    loop.stdin.end();
  }
}

async function refreshRow({ options, machine, server }: Scene, client: TokenClient): Promise<Row> {
  const tokens = await Promise.all(
    Array.from(
      { length: AT_A_TIME },
      async (_, turn) => (await client.signIn(userOf(turn), PASSWORD)).refresh_token,
    ),
  );
  const rate = await pinned(server.pid, machine, async () => {
    const done = await repeat(options.seconds, async (_turn, lane) => {
      tokens[lane] = (await client.refresh(tokens[lane] ?? '')).refresh_token;
    });
    return done / options.seconds;
  });
  return {
    work: 'refresh a token, its session written',
    peer: '',
    ours: perSecond(rate),
    ratio: '',
    goal: '',
    met: undefined,
    note: `${AT_A_TIME} sessions at a time; one core for the server, the cluster's writes beside it`,
  };
}

/** What others notice while people sign in at a steady rate, whatever the answers take. */
async function stormRow(scene: Scene, client: TokenClient): Promise<Row> {
  const { direct, load, options } = scene;
  const job = {
    target: direct,
    paths: [`${OUR_NODES}/${scene.nodeName(0)}`],
    connections: 4,
    seconds: options.seconds,
  };
  const calm = await load.requests(job);
  const end = new AbortController();
  let signedIn = 0;
  let refused = 0;
  const storm = (async () => {
    const pending = new Set<Promise<void>>();
    for (let turn = 0; !end.signal.aborted; turn++) {
      const attempt = client.signIn(userOf(turn), PASSWORD).then(
        () => void signedIn++,
        () => void refused++,
      );
      pending.add(attempt);
      void attempt.finally(() => pending.delete(attempt));
      await delay(1000 / STORM_PER_SECOND, undefined, { signal: end.signal }).catch(() => undefined);
    }
    await Promise.all(pending);
  })();
  const busy = await load.requests(job);
  end.abort();
  await storm;
  const p99 = busy.latencyMs.p99;
  return {
    work: `p99 of getting one node while ${STORM_PER_SECOND} people a second sign in`,
    peer: milliseconds(calm.latencyMs.p99),
    ours: milliseconds(p99),
    ratio: '',
    goal: `≤ ${milliseconds(STORM_P99_MS)}`,
    met: p99 <= STORM_P99_MS,
    note: `peer: the same while nobody does; ${signedIn} signed in, ${refused} were told to come back`,
  };
}

async function revocationRow(here: TokenClient, there: TokenClient): Promise<Row> {
  const times: number[] = [];
  for (let turn = 0; turn < REVOCATIONS; turn++) {
    const { access_token: token } = await here.signIn(userOf(turn), PASSWORD);
    if ((await there.userInfo(token)) !== 200) throw new Error('another replica does not know the token');
    await here.revoke(token);
    const answered = performance.now();
    while ((await there.userInfo(token)) === 200);
    times.push(performance.now() - answered);
  }
  return {
    work: 'a revocation holds at another replica',
    peer: '',
    ours: milliseconds(median(times)),
    ratio: '',
    goal: '',
    met: undefined,
    note: `after the answer to it; the longest of ${REVOCATIONS}: ${milliseconds(Math.max(...times))}`,
  };
}

/** Works in lanes until the time is over; how often it was done. */
async function repeat(
  seconds: number,
  work: (turn: number, lane: number) => Promise<unknown>,
): Promise<number> {
  const until = performance.now() + seconds * 1000;
  let turn = 0;
  let done = 0;
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async (_, lane) => {
      while (performance.now() < until) {
        await work(turn++, lane);
        done++;
      }
    }),
  );
  return done;
}

function userOf(turn: number): string {
  return USERS[turn % USERS.length] ?? '';
}

async function addUsers({ writer }: Scene): Promise<void> {
  const [ca = '', cert = '', key = ''] = await Promise.all(
    [writer.ca, writer.cert, writer.key].map((file) => readFile(file, 'utf8')),
  );
  const client = new Client(writer.server, { ca, pair: { cert, key } }, 8);
  const passwordHash = await hash(PASSWORD);
  const create = async (kind: string, name: string, spec: object): Promise<string> => {
    const body = { apiVersion: 'iam.platform.io/v1beta1', kind, metadata: { name }, spec };
    const path = `/apis/iam.platform.io/v1beta1/${kind.toLowerCase()}s`;
    const answer = await client.expect(path, { method: 'POST', body }, [201]);
    return (JSON.parse(answer.body) as { metadata: { uid: string } }).metadata.uid;
  };
  try {
    await Promise.all(
      USERS.map(async (name) => {
        const userUID = await create('User', name, {});
        const changedTime = new Date().toISOString();
        await create('Credential', name, { userUID, passwordHash, changedTime });
      }),
    );
  } finally {
    client.close();
  }
}

/** Resolves when the server knows the last of the users. */
async function known(client: TokenClient, signal: AbortSignal): Promise<void> {
  const patience = AbortSignal.any([signal, AbortSignal.timeout(30_000)]);
  const last = USERS.at(-1) ?? '';
  for (;;) {
    const signedIn = await client.signIn(last, PASSWORD).then(
      () => true,
      () => false,
    );
    if (signedIn) return;
    await delay(500, undefined, { signal: patience });
  }
}
