// A sample of a server process: values of its metrics, and the numbers of its open files and sockets under /proc.
import { openFiles } from '../bench/measuring/process-usage.ts';
import type { Replica } from './environment.ts';
import type { Limit } from './judgement.ts';

/** Series of a replica, with the growth that is tolerated. */
export const SERIES = {
  'resident memory, MB': { share: 0.1, least: 16 },
  'heap, MB': { share: 0.15, least: 8, leastWithin: 180 },
  'external memory, MB': { share: 0.2, least: 8 },
  'open files': { share: 0.1, least: 8 },
  sockets: { share: 0.1, least: 8 },
  handles: { share: 0.1, least: 8 },
  timers: { share: 0.1, least: 10 },
  connections: { share: 0.1, least: 8 },
  'long-running requests': { share: 0.1, least: 8 },
  'cached objects': { share: 0.05, least: 20 },
  /** Without those of requests: they have a maximum, which new kinds reach only after hours. */
  'lines of metrics': { share: 0.05, least: 50 },
} as const satisfies Record<string, Limit>;
export type Series = keyof typeof SERIES;
export type Sample = Readonly<Record<Series, number>>;

const MB = 1e6;

export async function sampleOf({ client, server }: Replica): Promise<Sample> {
  const { body } = await client.expect('/metrics', {}, [200]);
  const lines = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const sum = (name: string, label = ''): number =>
    lines
      .filter((line) => /^\w+/.exec(line)?.[0] === name && line.includes(label))
      .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0);
  const files = await openFiles(server.pid);
  return {
    'resident memory, MB': sum('process_resident_memory_bytes') / MB,
    'heap, MB': sum('nodejs_heap_size_used_bytes') / MB,
    'external memory, MB': sum('nodejs_external_memory_bytes') / MB,
    'open files': files.length,
    sockets: files.filter((file) => file.startsWith('socket:')).length,
    handles: sum('nodejs_active_handles_total'),
    timers: sum('nodejs_active_resources', 'type="Timeout"'),
    connections: sum('apiserver_open_connections'),
    'long-running requests': sum('apiserver_longrunning_requests'),
    'cached objects': sum('cache_objects'),
    'lines of metrics': lines.filter((line) => !line.startsWith('apiserver_request_')).length,
  };
}
