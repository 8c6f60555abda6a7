// Parser of the command line of `npm run bench`.
import { parseCommandLine, UsageError, wholeNumber } from '../terminal/usage.ts';
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
  'peers',
  'platform',
  'memory',
  'logs',
  'pod-logs',
  'resources',
  'gateway',
  'acceleration',
] as const;
export type Group = (typeof GROUPS)[number];

export interface Options extends SceneOptions {
  readonly groups: readonly Group[];
  readonly write: boolean;
}

export const USAGE = `Usage: npm run bench -- [options]

  --rows LIST       groups of ${GROUPS.join(',')}; default all
  --nodes N         number of nodes; default 5000, for which the goals are made
  --seconds S       duration of each measurement of a rate; default 10
  --watchers LIST   numbers of concurrent watches; default 300,1000,5000
  --log-lines N     lines in each log store; default 1000000
  --list-nodes N    nodes of the rows \`resources\`; default 20000
  --pods N          pods of the rows \`resources\` and \`acceleration\`, in 200 namespaces; default 100000
  --namespaces N    namespaces of the rows \`resources\`; default 5000
  --no-write        do not update hack/bench/results.md and results.json
                    (the default with other numbers of objects or lines);
                    an update does not change groups that were not measured
  -h, --help        this text
`;

/** Throws UsageError. */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const { values } = parseCommandLine({
    args: [...args],
    options: {
      rows: { type: 'string', default: GROUPS.join(',') },
      nodes: { type: 'string', default: '5000' },
      seconds: { type: 'string', default: '10' },
      watchers: { type: 'string', default: '300,1000,5000' },
      'log-lines': { type: 'string', default: '1000000' },
      'list-nodes': { type: 'string', default: '20000' },
      pods: { type: 'string', default: '100000' },
      namespaces: { type: 'string', default: '5000' },
      'no-write': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  const requested = values.rows.split(',');
  const unknown = requested.find((name) => !GROUPS.some((group) => group === name));
  if (unknown !== undefined)
    throw new UsageError(`--rows: unknown group ${unknown}; the groups are ${GROUPS.join(', ')}`);
  const groups = GROUPS.filter((group) => requested.includes(group));
  const nodes = wholeNumber('--nodes', values.nodes, 1, 100_000);
  const listNodes = wholeNumber('--list-nodes', values['list-nodes'], 1, 100_000);
  const pods = wholeNumber('--pods', values.pods, 1000, 1_000_000);
  const namespaces = wholeNumber('--namespaces', values.namespaces, 200, 100_000);
  const logLines = wholeNumber('--log-lines', values['log-lines'], 1, 100_000_000);
  return {
    groups,
    nodes,
    seconds: wholeNumber('--seconds', values.seconds, 1, 3_600),
    watchers: values.watchers.split(',').map((count) => wholeNumber('--watchers', count, 1, 100_000)),
    logLines,
    listNodes,
    pods,
    namespaces,
    write:
      !values['no-write'] &&
      logLines === 1_000_000 &&
      nodes === 5000 &&
      listNodes === 20_000 &&
      pods === 100_000 &&
      namespaces === 5000,
  };
}
