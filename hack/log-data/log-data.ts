// Generates a deterministic data set of log records for tests and benchmarks. The record format is that of Fluent
// Bit's kubernetes filter.
import type { LogRecord } from '../log-stores/record.ts';
import { message } from './lines.ts';
import { HUGE_LINE, ODD_LINES } from './odd-lines.ts';
import { type DataContainer, type DataPod, dataPods, type PodsOptions } from './pods.ts';
import { Random } from './random.ts';
import { instantOf, type Moment, momentOf, moments } from './times.ts';

interface LogDataOptions {
  /** Default 20,000. */
  readonly lines?: number;
  /** Default and maximum 40. */
  readonly namespaces?: number;
  /** Maximum per namespace; the default 6 yields several hundred pods. */
  readonly workloads?: number;
}

interface LogData {
  /** All records have `start <= time < end`. */
  readonly start: string;
  readonly end: string;
  readonly pods: readonly DataPod[];
  /** All records by ascending time. Generated on each call, in constant memory. */
  records(): Generator<LogRecord, void, undefined>;
  /** Records of running containers, which the cluster itself has. */
  currentRecords(): Generator<LogRecord, void, undefined>;
}

/** In the middle of a day, so that the records span two days. */
const END = '2026-01-15T10:00:00.000000000Z';
const HOURS = 24;
const SEED = 1;

export function logData(options: LogDataOptions = {}): LogData {
  const { lines = 20_000, namespaces = 40, workloads = 6 } = options;
  const end = momentOf(END).ms;
  const start = end - HOURS * 3_600_000;
  const settings: PodsOptions = { seed: SEED, start, end, namespaces, workloads };
  const pods = dataPods(settings);
  const records = () => generate(pods, settings, lines);
  const current = new Set(
    pods.flatMap(({ containers }) => containers.filter((c) => c.current).map((c) => c.id)),
  );
  return {
    start: instantOf({ ms: start, ns: 0 }),
    end: END,
    pods,
    records,
    *currentRecords() {
      for (const record of records()) if (current.has(record.kubernetes.docker_id)) yield record;
    },
  };
}

interface Source {
  readonly pod: DataPod;
  readonly container: DataContainer;
}

function* generate(
  pods: readonly DataPod[],
  { seed, start, end }: PodsOptions,
  lines: number,
): Generator<LogRecord, void, undefined> {
  const random = new Random(seed + 1);
  const sources = shuffled(
    pods.flatMap((pod) => pod.containers.map((container): Source => ({ pod, container }))),
    random,
  );
  let written = 0;
  let source: Source | undefined;
  for (const moment of moments(start, end, lines, random)) {
    if (written === lines) return;
    source = nextSource(source, sources, moment, random);
    for (const log of nextMessage(source, moment, written, lines, random)) {
      if (written === lines) return;
      yield recordOf(source, log, moment, random);
      written++;
    }
  }
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/** Picks the container of the next line: often the previous one; a few containers write most lines. */
function nextSource(
  last: Source | undefined,
  sources: readonly Source[],
  { ms }: Moment,
  random: Random,
): Source {
  const lives = ({ container }: Source) => container.from <= ms && ms < container.until;
  if (last !== undefined && lives(last) && random.chance(0.2)) return last;
  const first = Math.floor(random.fraction() ** 2 * sources.length);
  for (let step = 0; step < sources.length; step++) {
    const source = sources[(first + step) % sources.length];
    if (source !== undefined && lives(source)) return source;
  }
  throw new Error(`no container runs at ${ms}`);
}

/** Interval of edge cases, in lines. Each edge case occurs several times, the huge line twice. */
const ODD_EVERY = 13;

function nextMessage(
  { container }: Source,
  moment: Moment,
  written: number,
  lines: number,
  random: Random,
): readonly string[] {
  if (written === Math.floor(lines / 3) || written === Math.floor(lines / 2)) return [HUGE_LINE];
  if (written % ODD_EVERY === 5) return [ODD_LINES[Math.floor(written / ODD_EVERY) % ODD_LINES.length] ?? ''];
  return message(container.style, instantOf(moment).replace(/\.\d+/, ''), random);
}

function recordOf({ pod, container }: Source, log: string, moment: Moment, random: Random): LogRecord {
  return {
    log,
    time: instantOf(moment),
    stream: random.chance(0.1) ? 'stderr' : 'stdout',
    kubernetes: {
      pod_name: pod.name,
      namespace_name: pod.namespace,
      pod_id: pod.uid,
      container_name: container.name,
      docker_id: container.id,
      container_image: container.image,
      host: pod.node,
      labels: pod.labels,
    },
  };
}
