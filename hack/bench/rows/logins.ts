// Benchmark: sign-ins. The baseline is argon2id hashing alone.
import { setTimeout as delay } from 'node:timers/promises';
import { TokenClient } from '../measuring/token-client.ts';
import { AT_A_TIME, addUsers, PASSWORD, untilSynced, userOf } from '../scene/crowd.ts';
import { OUR_NODES, type Scene } from '../scene/scene.ts';
import { passwordRows } from './passwords.ts';
import { milliseconds, type Row } from './row.ts';

const STORM_PER_SECOND = 100;
const STORM_P99_MS = 50;

export async function loginRows(scene: Scene): Promise<readonly Row[]> {
  await addUsers(scene);
  const { ca } = scene.direct;
  const issuer = `${scene.server.url}/oauth`;
  const other = await scene.another({
    configuration: { oauth: { issuer } },
  });
  const clients = [
    await TokenClient.connect(scene.server.url, ca, 2 * AT_A_TIME),
    await TokenClient.connect(other.url, ca, 2 * AT_A_TIME),
  ] as const;
  try {
    await untilSynced(clients[0], scene.signal);
    await untilSynced(clients[1], scene.signal);
    return [...(await passwordRows(scene, [other.pid, clients[1]])), await stormRow(scene, clients[0])];
  } finally {
    for (const client of clients) client.close();
  }
}

/** Latency of other requests during sign-ins at a constant rate (open loop). */
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
    work: `p99 of a get of one node during ${STORM_PER_SECOND} sign-ins per second`,
    peer: milliseconds(calm.latencyMs.p99),
    ours: milliseconds(p99),
    goal: `≤ ${milliseconds(STORM_P99_MS)}`,
    met: p99 <= STORM_P99_MS,
    note: `peer: the same without sign-ins; ${signedIn} signed in, ${refused} got 429 or 503`,
  };
}
