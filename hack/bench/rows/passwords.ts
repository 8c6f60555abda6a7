// Password grants against the bare hash: on one core, where hashing leaves nothing over for the rest of a sign-in, and
// with one hash at a time, where the rest has a core that it shares with the cluster.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { AT_A_TIME, PASSWORD, repeat, userOf } from '../crowd.ts';
import { alone } from '../machine.ts';
import { cpuSeconds, mainThreadSeconds } from '../process-usage.ts';
import { atLeast, milliseconds, perSecond, type Row } from '../row.ts';
import type { Scene } from '../scene.ts';
import { interleaved, median } from '../statistics.ts';
import type { TokenClient } from '../token-client.ts';

const HASH_LOOP = join(import.meta.dirname, '../hash-loop.ts');
const ROUNDS = 3;
const GOAL = 0.9;

/** A rate, and the CPU time that one turn took of each process, in ms. */
interface Usage {
  readonly rate: number;
  /** Of the server or of the program that only hashes. */
  readonly own: number;
  readonly mainThread: number;
  readonly kube: number;
  readonly etcd: number;
}

type Server = readonly [pid: number, client: TokenClient];

/** `single` is a server that works on one hash at a time. */
export async function passwordRows(scene: Scene, server: Server, single: Server): Promise<readonly Row[]> {
  const { machine, options, signal } = scene;
  const loop = spawn(process.execPath, [HASH_LOOP], { stdio: ['pipe', 'pipe', 'inherit'], signal });
  loop.on('error', () => undefined);
  const loopPid = loop.pid ?? 0;
  const lines = createInterface(loop.stdout)[Symbol.asyncIterator]();
  const bare = async (atATime: number): Promise<Usage> => {
    const before = await cpuSeconds(loopPid);
    loop.stdin.write(`${options.seconds} ${atATime}\n`);
    const rate = Number((await lines.next()).value);
    const own = (((await cpuSeconds(loopPid)) - before) / (rate * options.seconds)) * 1000;
    return { rate, own, mainThread: 0, kube: 0, etcd: 0 };
  };
  const others = [scene.kubePid, scene.etcdPid, process.pid];
  try {
    await lines.next();
    const seen = await interleaved(ROUNDS, {
      bare: () =>
        alone(loopPid, others, machine, () => bare(machine.serverCore === undefined ? machine.cores : 2)),
      grants: () => alone(server[0], others, machine, () => grants(scene, server)),
    });
    const free = await interleaved(ROUNDS, {
      bare: () => bare(1),
      grants: () => grants(scene, single),
    });
    return [
      {
        ...row('sign in with a password', seen),
        note: `peer: argon2id alone; a core for it or for the server, the other for the cluster and the client. ${usage(seen)}`,
        shortfall: shortfall(seen),
      },
      {
        ...row('the same, one hash at a time', free),
        goal: '',
        met: undefined,
        note: `peer: argon2id alone, one at a time; all cores for everybody. ${usage(free)}`,
      },
    ];
  } finally {
    loop.stdin.end();
  }
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

function usage({ grants }: Seen): string {
  const { own, kube, etcd } = middle(grants);
  return `CPU a sign-in: ours ${milliseconds(own)}, kube-apiserver ${milliseconds(kube)}, etcd ${milliseconds(etcd)}, ${AT_A_TIME} at a time`;
}

function shortfall({ bare, grants }: Seen): string {
  const { own, mainThread } = middle(grants);
  const { own: hash } = middle(bare);
  return [
    `a sign-in takes ${own.toFixed(1)} ms of CPU and the bare hash ${hash.toFixed(1)} ms, so one core can not do better;`,
    `${mainThread.toFixed(1)} ms of it are the main thread's: the request, the write of its session over TLS and the`,
    'echo of that by watch, one signature; profiles show no function with more than a twentieth of that. The rest is',
    'the hash, which takes longer beside other work than alone',
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
