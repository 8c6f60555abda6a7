import { parseCommandLine, UsageError, wholeNumber } from '../terminal/usage.ts';
import type { SceneOptions } from './scene/scene.ts';

/** In the order they are measured: watches before lists, whose garbage would hide what watches need. */
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
] as const;
export type Group = (typeof GROUPS)[number];

export interface Options extends SceneOptions {
  readonly groups: readonly Group[];
  readonly write: boolean;
}

export const USAGE = `Usage: npm run bench -- [options]

  --rows LIST       of ${GROUPS.join(',')}; all when not given
  --nodes N         5000 when not given; the goals are made for that
  --seconds S       length of each measurement of a rate; 10
  --watchers LIST   how many watches at once; 300,1000,5000
  --log-lines N     lines in each log store; 1000000
  --no-write        leave hack/bench/results.md and results.json as they are
                    (also with other nodes or lines than 5000 and a million);
                    rows that were not asked for stay as they were measured before
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
      'no-write': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  const asked = values.rows.split(',');
  const unknown = asked.find((name) => !GROUPS.some((group) => group === name));
  if (unknown !== undefined)
    throw new UsageError(`--rows: there is no ${unknown}; there are ${GROUPS.join(', ')}`);
  const groups = GROUPS.filter((group) => asked.includes(group));
  const nodes = wholeNumber('--nodes', values.nodes, 1, 100_000);
  const logLines = wholeNumber('--log-lines', values['log-lines'], 1, 100_000_000);
  return {
    groups,
    nodes,
    seconds: wholeNumber('--seconds', values.seconds, 1, 3_600),
    watchers: values.watchers.split(',').map((count) => wholeNumber('--watchers', count, 1, 100_000)),
    logLines,
    write: !values['no-write'] && logLines === 1_000_000 && nodes === 5000,
  };
}
