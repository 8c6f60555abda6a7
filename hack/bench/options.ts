// Command line of `npm run bench`.
import {
  type Arguments,
  type CommandLine,
  UsageError,
  wholeNumber,
} from '../../apis/reading/command-line.ts';
import type { SceneOptions } from './scene/scene.ts';

/**
 * Groups of measurements, in order. Watches come before lists, because garbage of lists would distort the memory of
 * watches.
 */
export const GROUPS = [
  'sync',
  'watch',
  'list',
  'get',
  'tokens',
  'logins',
  'sign-ons',
  'platform',
  'memory',
  'logs',
  'resources',
  'gateway',
  'acceleration',
  'explore',
] as const;
export type Group = (typeof GROUPS)[number];

export interface Options extends SceneOptions {
  readonly groups: readonly Group[];
  readonly write: boolean;
}

/** Numbers for which the goals are made. */
const GOALS = {
  nodes: '5000',
  'log-lines': '1000000',
  pods: '100000',
  namespaces: '5000',
} as const;

export const BENCH = {
  command: 'npm run bench --',
  usage: ['[options]'],
  about: 'Measures ks-apiserver and kube-apiserver with the same requests.',
  flags: {
    rows: {
      value: 'LIST',
      description: `groups of rows, separated by commas; default all:\n${GROUPS.join(', ')}`,
    },
    nodes: { value: 'N', default: GOALS.nodes, description: 'number of nodes' },
    seconds: { value: 'S', default: '10', description: 'duration of each measurement of a rate' },
    watchers: { value: 'LIST', default: '300,1000,5000', description: 'numbers of concurrent watches' },
    'log-lines': { value: 'N', default: GOALS['log-lines'], description: 'lines in each log store' },
    pods: {
      value: 'N',
      default: GOALS.pods,
      description: 'pods of the rows `resources`, `acceleration` and `explore`, in 200 namespaces',
    },
    namespaces: { value: 'N', default: GOALS.namespaces, description: 'namespaces of the rows `resources`' },
    'no-write': {
      description: `do not update results.md, results.json and charts of hack/bench;
implied by other numbers of objects or lines than the default`,
    },
  },
  notes: 'An update does not change groups that were not measured.',
} as const satisfies CommandLine;

/** Throws UsageError. */
export function readOptions({ values }: Arguments<typeof BENCH.flags>): Options {
  const requested = values.rows?.split(',') ?? GROUPS;
  const unknown = requested.find((name) => !GROUPS.some((group) => group === name));
  if (unknown !== undefined)
    throw new UsageError(`--rows: unknown group ${unknown}; the groups are ${GROUPS.join(', ')}`);
  const counts: Readonly<Record<string, unknown>> = values;
  return {
    groups: GROUPS.filter((group) => requested.includes(group)),
    nodes: wholeNumber('--nodes', values.nodes, 1, 100_000),
    seconds: wholeNumber('--seconds', values.seconds, 1, 3_600),
    watchers: values.watchers.split(',').map((count) => wholeNumber('--watchers', count, 1, 100_000)),
    logLines: wholeNumber('--log-lines', values['log-lines'], 1, 100_000_000),
    pods: wholeNumber('--pods', values.pods, 1000, 1_000_000),
    namespaces: wholeNumber('--namespaces', values.namespaces, 200, 100_000),
    write: !values['no-write'] && Object.entries(GOALS).every(([name, count]) => counts[name] === count),
  };
}
