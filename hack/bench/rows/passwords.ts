// Benchmark: rate of password grants, on one core and on all cores. The baseline is a program that only verifies
// argon2id hashes.
import { join } from 'node:path';
import { startLineProtocolProgram } from '../../system/line-protocol-program.ts';
import { alone } from '../measuring/machine.ts';
import { cpuSeconds, mainThreadSeconds } from '../measuring/process-usage.ts';
import { interleaved, median } from '../measuring/statistics.ts';
import { TokenClient } from '../measuring/token-client.ts';
import { AT_A_TIME, PASSWORD, repeat, userOf } from '../scene/crowd.ts';
import type { Scene } from '../scene/scene.ts';
import { atLeast, informs, milliseconds, perSecond, type Row } from './row.ts';

const HASH_LOOP = join(import.meta.dirname, '../bare/hash-loop.ts');
const BARE_SIGN_IN = join(import.meta.dirname, '../bare/sign-in.ts');
const ROUNDS = 3;
const GOAL = 0.9;

/** A rate, and the CPU time of each process per operation, in ms. */
interface Usage {
  readonly rate: number;
  /** CPU of the server or of the baseline program. */
  readonly own: number;
  readonly mainThread: number;
  readonly kube: number;
  readonly etcd: number;
}

type Server = readonly [pid: number, client: TokenClient];

/** `server` must be configured for one hash at a time. */
export async function passwordRows(scene: Scene, server: Server): Promise<readonly Row[]> {
  const { options, signal } = scene;
  const loop = startLineProtocolProgram(process.execPath, [HASH_LOOP], signal);
  const least = startLineProtocolProgram(process.execPath, [BARE_SIGN_IN, ...filesOf(scene)], signal);
  const bare = async (atATime: number): Promise<Usage> => {
    const before = await cpuSeconds(loop.pid);
    loop.send(`${options.seconds} ${atATime}`);
    const rate = Number(await loop.line());
    const own = (((await cpuSeconds(loop.pid)) - before) / (rate * options.seconds)) * 1000;
    return { rate, own, mainThread: 0, kube: 0, etcd: 0 };
  };
  let leastClient: TokenClient | undefined;
  try {
    await loop.line();
    const port = await least.line();
    leastClient = await TokenClient.connect(`https://127.0.0.1:${port}`, scene.direct.ca, 2 * AT_A_TIME);
    const bareServer: Server = [least.pid, leastClient];
    const onOneCore = (pid: number, work: () => Promise<Usage>): Promise<Usage> =>
      alone(pid, othersThan(pid, scene, [server[0], loop.pid, least.pid]), scene.machine, work);
    // Warm up: the first thousand sign-ins are slower.
    for (const warmed of [bareServer, server]) await grants(scene, warmed);
    const seen = await interleaved(ROUNDS, {
      bare: () => onOneCore(loop.pid, () => bare(1)),
      bareTwo: () => onOneCore(loop.pid, () => bare(2)),
      least: () => onOneCore(bareServer[0], () => grants(scene, bareServer)),
      grants: () => onOneCore(server[0], () => grants(scene, server)),
    });
    const free = await interleaved(ROUNDS, {
      bare: () => bare(1),
      grants: () => grants(scene, server),
    });
    // The higher rate of one and two concurrent hashes is the baseline.
    const pinned = {
      ...seen,
      bare: middle(seen.bare).rate < middle(seen.bareTwo).rate ? seen.bareTwo : seen.bare,
    };
    return [
      {
        ...row('sign in with a password', pinned),
        note: `peer: argon2id alone; one core for the peer or the server, the other core for the cluster and the client. ${usage(pinned)}`,
        shortfall: shortfall(pinned),
      },
      informs(
        row('sign in with a password at a minimal Node program', { bare: pinned.bare, grants: pinned.least }),
        `ours: a Node program that reads a form over TLS, verifies the hash, writes one session over TLS, signs and responds, without checks, watches and logs. ${usage({ grants: pinned.least })}`,
      ),
      informs(
        row('sign in with a password, all cores shared', free),
        `peer: argon2id alone, one hash at a time, like the server. ${usage(free)}`,
      ),
    ];
  } finally {
    leastClient?.close();
    await Promise.all([loop.end(), least.end()]);
    await removeBareSessions(scene);
  }
}

function filesOf({ writer, serving }: Scene): readonly string[] {
  return [writer.server, writer.ca, serving.cert, serving.key, writer.cert, writer.key];
}

/** PIDs of all processes that take part in sign-ins, to keep them off the core of the measured one. */
function othersThan(pid: number, scene: Scene, programs: readonly number[]): readonly number[] {
  const { kubePid, etcdPid, controllersPid, server } = scene;
  const all = [kubePid, etcdPid, controllersPid, server.pid, process.pid, ...programs];
  return all.filter((other) => other > 0 && other !== pid);
}

async function removeBareSessions({ cluster }: Scene): Promise<void> {
  const path = '/apis/iam.platform.io/v1beta1/sessions?labelSelector=platform.io/bench=bare';
  await cluster.expect(path, { method: 'DELETE' }, [200]);
}

async function grants({ options, kubePid, etcdPid }: Scene, [pid, client]: Server): Promise<Usage> {
  const read = (): Promise<number[]> =>
    Promise.all([cpuSeconds(pid), mainThreadSeconds(pid), cpuSeconds(kubePid), cpuSeconds(etcdPid)]);
  const before = await read();
  const began = performance.now();
  const done = await repeat(options.seconds, (turn) => client.signIn(userOf(turn), PASSWORD));
  const seconds = (performance.now() - began) / 1000;
  const [own = 0, mainThread = 0, kube = 0, etcd = 0] = (await read()).map(
    (after, index) => ((after - (before[index] ?? 0)) / done) * 1000,
  );
  return { rate: done / seconds, own, mainThread, kube, etcd };
}

interface Seen {
  readonly bare: readonly Usage[];
  readonly grants: readonly Usage[];
}

function row(work: string, { bare, grants }: Seen): Row {
  return atLeast(work, middle(bare).rate, middle(grants).rate, GOAL, perSecond);
}

function usage({ grants }: Pick<Seen, 'grants'>): string {
  const { own, mainThread, kube, etcd } = middle(grants);
  return `CPU per sign-in: ours ${milliseconds(own)}, including ${milliseconds(mainThread)} of the main thread; kube-apiserver ${milliseconds(kube)}, etcd ${milliseconds(etcd)}; ${AT_A_TIME} at a time`;
}

function shortfall({ bare, grants, least }: Seen & { readonly least: readonly Usage[] }): string {
  const [ours, hash, floor] = [middle(grants), middle(bare), middle(least)];
  return [
    `on one core the bare hash takes ${hash.own.toFixed(1)} ms and a sign-in ${ours.own.toFixed(1)} ms.`,
    `The minimal Node program takes ${floor.own.toFixed(1)} ms, so Node can reach at most`,
    `${(floor.rate / hash.rate).toFixed(2)} × with a session in the cluster. The main thread of the server takes ${ours.mainThread.toFixed(1)} ms,`,
    `that of the minimal program ${floor.mainThread.toFixed(1)} ms, for two TLS connections and their HTTP.`,
    'The difference is the throttle, clients, MACs, the watch event of the session, three log lines and metrics',
  ].join(' ');
}

function middle(seen: readonly Usage[]): Usage {
  const of = (member: keyof Usage): number => median(seen.map((usage) => usage[member]));
  return {
    rate: of('rate'),
    own: of('own'),
    mainThread: of('mainThread'),
    kube: of('kube'),
    etcd: of('etcd'),
  };
}
