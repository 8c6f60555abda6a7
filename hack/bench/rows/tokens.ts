// One node by an access token of the password grant, with and without remembering verified signatures; the peer takes
// the same token by its own verifier.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { hash } from '@node-rs/argon2';
import { Client } from '../../control-plane/client.ts';
import type { RequestsResult, Target } from '../measuring/load-generator.ts';
import { pinned } from '../measuring/machine.ts';
import { cpuSeconds } from '../measuring/process-usage.ts';
import { interleaved, median } from '../measuring/statistics.ts';
import { CORE_NODES, OUR_NODES, type Scene } from '../scene/scene.ts';
import { atLeast, milliseconds, perSecond, type Row } from './row.ts';

const ROUNDS = 3;
const CONNECTIONS = 32;
const USER = 'bench';
const PASSWORD = 'only for as long as the bench runs';
const GOAL = 15_000;

interface Measured {
  readonly result: RequestsResult;
  readonly cpuPerRequest: number;
}

export async function tokenRows(scene: Scene): Promise<readonly Row[]> {
  const { load, machine, options, server, signal } = scene;
  await addUser(scene);
  const token = await signIn(scene.direct, signal);
  const bearer = ({ server: url, ca }: Pick<Target, 'server' | 'ca'>): Target => ({
    server: url,
    ca,
    cert: '',
    key: '',
    headers: { authorization: `Bearer ${token}` },
  });
  const name = scene.nodeName(0);
  const measure =
    (target: Target, pid: number, path: string, seconds = options.seconds) =>
    () =>
      pinned(pid, machine, async (): Promise<Measured> => {
        const before = await cpuSeconds(pid);
        const result = await load.requests({ target, paths: [path], connections: CONNECTIONS, seconds });
        return { result, cpuPerRequest: ((await cpuSeconds(pid)) - before) / result.requests };
      });
  const issuer = `${server.url}/oauth`;
  const plain = await scene.another({ configuration: { oauth: { issuer, verifiedTokens: 0 } } });
  const ours = `${OUR_NODES}/${name}`;
  const core = `${CORE_NODES}/${name}`;
  const sides = {
    peer: measure(bearer(scene.kube), scene.kubePid, core),
    ours: measure(bearer(scene.direct), server.pid, ours),
    each: measure(bearer({ ...scene.direct, server: plain.url }), plain.pid, ours),
  };
  scene.progress('waiting until kube-apiserver takes the token');
  const trusted = measure(bearer(scene.kube), scene.kubePid, core, 1);
  const patience = AbortSignal.any([signal, AbortSignal.timeout(60_000)]);
  const isTrusted = (): Promise<boolean> =>
    trusted().then(
      () => true,
      () => false,
    );
  while (!(await isTrusted())) await delay(500, undefined, { signal: patience });
  await measure(bearer(scene.direct), server.pid, ours, 5)();
  const seen = await interleaved(ROUNDS, sides);
  const rate = (side: keyof typeof seen): number => median(seen[side].map(({ result }) => result.rate));
  const facts = (side: keyof typeof seen): string => {
    const cpu = median(seen[side].map((each) => each.cpuPerRequest * 1e6));
    const p99 = median(seen[side].map(({ result }) => result.latencyMs.p99));
    return `${cpu.toFixed(0)} µs of CPU a request, p99 ${milliseconds(p99)}`;
  };
  return [
    {
      ...atLeast('get one node with an access token', rate('peer'), rate('ours'), 1, perSecond),
      goal: `≥ ${perSecond(GOAL)}`,
      met: rate('ours') >= GOAL,
      note: `one core for each server; ${facts('peer')}; ours ${facts('ours')}`,
    },
    {
      ...atLeast('the same, each signature verified', rate('peer'), rate('each'), 1, perSecond),
      goal: `≥ ${perSecond(3000)}`,
      met: rate('each') >= 3000,
      note: `ours ${facts('each')}; kube-apiserver remembers a token for ten seconds`,
    },
  ];
}

/** With the name of the bench's caller, whom the rules know. */
async function addUser({ writer }: Scene): Promise<void> {
  const [ca, cert, key] = await Promise.all(
    [writer.ca, writer.cert, writer.key].map((file) => readFile(file, 'utf8')),
  );
  const client = new Client(writer.server, { ca: ca ?? '', pair: { cert: cert ?? '', key: key ?? '' } }, 1);
  const create = async (kind: string, spec: object): Promise<string> => {
    const body = { apiVersion: 'iam.platform.io/v1beta1', kind, metadata: { name: USER }, spec };
    const path = `/apis/iam.platform.io/v1beta1/${kind.toLowerCase()}s`;
    const answer = await client.expect(path, { method: 'POST', body }, [201]);
    return (JSON.parse(answer.body) as { metadata: { uid: string } }).metadata.uid;
  };
  try {
    const userUID = await create('User', {});
    await create('Credential', {
      userUID,
      passwordHash: await hash(PASSWORD),
      changedTime: new Date().toISOString(),
    });
  } finally {
    client.close();
  }
}

/** The server may not have heard of the user yet. */
async function signIn(target: Target, signal: AbortSignal): Promise<string> {
  const form = new URLSearchParams({
    grant_type: 'password',
    username: USER,
    password: PASSWORD,
    client_id: 'platform',
    client_secret: 'platform',
  });
  const ca = await readFile(target.ca, 'utf8');
  const patience = AbortSignal.any([signal, AbortSignal.timeout(20_000)]);
  for (;;) {
    const sent = request(new URL('/oauth/token', target.server), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      ca,
      agent: false,
    });
    sent.end(form.toString());
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of answer) text += String(chunk);
    const { access_token: token } = JSON.parse(text) as { access_token?: string };
    if (token !== undefined) return token;
    await delay(200, undefined, { signal: patience });
  }
}
