// Benchmark: rate of password grants on one core. The baseline is a program that only verifies argon2id hashes.
import { join } from 'node:path';
import { startLineProtocolProgram } from '../../system/line-protocol-program.ts';
import { alone } from '../measuring/machine.ts';
import { cpuSeconds, mainThreadSeconds } from '../measuring/process-usage.ts';
import { interleaved, median } from '../measuring/statistics.ts';
import type { TokenClient } from '../measuring/token-client.ts';
import { AT_A_TIME, PASSWORD, repeat, userOf } from '../scene/crowd.ts';
import type { Scene } from '../scene/scene.ts';
import { atLeast, milliseconds, perSecond, type Row } from './row.ts';

const HASH_LOOP = join(import.meta.dirname, '../bare/hash-loop.ts');
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

export async function passwordRows(scene: Scene, server: Server): Promise<readonly Row[]> {
  const { options, signal } = scene;
  const loop = startLineProtocolProgram(process.execPath, [HASH_LOOP], signal);
  const bare = async (atATime: number): Promise<Usage> => {
    const before = await cpuSeconds(loop.pid);
    loop.send(`${options.seconds} ${atATime}`);
    const rate = Number(await loop.line());
    const own = (((await cpuSeconds(loop.pid)) - before) / (rate * options.seconds)) * 1000;
    return { rate, own, mainThread: 0, kube: 0, etcd: 0 };
  };
  try {
    await loop.line();
    const onOneCore = (pid: number, work: () => Promise<Usage>): Promise<Usage> =>
      alone(pid, othersThan(pid, scene, [server[0], loop.pid]), scene.machine, work);
    // Warm up: the first thousand sign-ins are slower.
    await grants(scene, server);
    const seen = await interleaved(ROUNDS, {
      one: () => onOneCore(loop.pid, () => bare(1)),
      two: () => onOneCore(loop.pid, () => bare(2)),
      grants: () => onOneCore(server[0], () => grants(scene, server)),
    });
    // The higher rate of one and two concurrent hashes is the baseline.
    const [one, two, ours] = [middle(seen.one), middle(seen.two), middle(seen.grants)];
    const hash = one.rate < two.rate ? two : one;
    return [
      {
        ...atLeast('sign in with a password', hash.rate, ours.rate, GOAL, perSecond),
        against: 'argon2id hashing alone',
        note: `one core for the peer or the server, the other core for the cluster and the client. ${usage(ours)}`,
        shortfall: shortfall(hash, ours),
      },
    ];
  } finally {
    await loop.end();
  }
}

/** PIDs of all processes that take part in sign-ins, to keep them off the core of the measured one. */
function othersThan(pid: number, scene: Scene, programs: readonly number[]): readonly number[] {
  const { kubePid, etcdPid, controllersPid, server } = scene;
  const all = [kubePid, etcdPid, controllersPid, server.pid, process.pid, ...programs];
  return all.filter((other) => other > 0 && other !== pid);
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

function usage({ own, mainThread, kube, etcd }: Usage): string {
  return `CPU per sign-in: ours ${milliseconds(own)}, including ${milliseconds(mainThread)} of the main thread; kube-apiserver ${milliseconds(kube)}, etcd ${milliseconds(etcd)}; ${AT_A_TIME} at a time`;
}

function shortfall(hash: Usage, ours: Usage): string {
  return [
    `on one core the bare hash takes ${hash.own.toFixed(1)} ms and a sign-in ${ours.own.toFixed(1)} ms.`,
    `The main thread of the server takes ${ours.mainThread.toFixed(1)} ms, half of it for two TLS connections and their HTTP;`,
    'the rest is the throttle, clients, MACs, the watch event of the session, three log lines and metrics',
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
