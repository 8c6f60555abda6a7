// Measures the request rate of a server on one core. The load generator runs on another core.
import type { Target } from '../measuring/load-generator.ts';
import { pinned } from '../measuring/machine.ts';
import { cpuSeconds } from '../measuring/process-usage.ts';
import { interleaved, median } from '../measuring/statistics.ts';
import type { Scene } from '../scene/scene.ts';

const ROUNDS = 3;
const CONNECTIONS = 32;

export interface Requests {
  readonly target: Target;
  /** PID of the server. */
  readonly pid: number;
  readonly paths: readonly string[];
  readonly connections?: number;
}

export interface Figures {
  /** Responses per second. */
  readonly rate: number;
  /** CPU of the server per request, in ms. */
  readonly cpu: number;
  /** In ms. */
  readonly p99: number;
  /** Utilization of the load generator's core. */
  readonly generator: number;
}

export function onOneCore(
  { load, machine, options }: Scene,
  { target, pid, paths, connections = CONNECTIONS }: Requests,
  seconds = options.seconds,
): Promise<Figures> {
  return pinned(pid, machine, async () => {
    const before = await cpuSeconds(pid);
    const result = await load.requests({ target, paths, connections, seconds });
    const { rate, requests, latencyMs } = result;
    const cpu = (((await cpuSeconds(pid)) - before) / requests) * 1000;
    return { rate, cpu, p99: latencyMs.p99, generator: result.cpuSeconds / result.seconds };
  });
}

/** Measures all sides alternately, and returns the median of each figure. */
export async function eachOnOneCore<Side extends string>(
  scene: Scene,
  sides: Readonly<Record<Side, Requests>>,
): Promise<Readonly<Record<Side, Figures>>> {
  const works = Object.entries<Requests>(sides).map(([side, requests]) => [
    side,
    () => onOneCore(scene, requests),
  ]);
  const seen = await interleaved(ROUNDS, Object.fromEntries(works) as Record<Side, () => Promise<Figures>>);
  const middle = (rounds: readonly Figures[]): Figures => {
    const of = (figure: keyof Figures): number => median(rounds.map((round) => round[figure]));
    return { rate: of('rate'), cpu: of('cpu'), p99: of('p99'), generator: of('generator') };
  };
  const figures = Object.entries<readonly Figures[]>(seen).map(([side, rounds]) => [side, middle(rounds)]);
  return Object.fromEntries(figures) as Record<Side, Figures>;
}
