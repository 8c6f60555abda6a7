// Draws the results of the bench as bar charts. A row with a ratio becomes a bar on a logarithmic axis whose base is the
// peer, and better is always to the right; any other row becomes a share of its limit.
import { type Axis, type Bar, barChart, type Section } from '../charts/bar-chart.ts';
import { comparison, shareOfLimit } from './bars.ts';
import { GROUPS, type Group } from './options.ts';
import type { Row } from './rows/row.ts';

const HEADINGS: Readonly<Record<Group, string>> = {
  sync: 'Start',
  watch: 'Watches',
  list: 'Lists of nodes',
  get: 'Get',
  tokens: 'Access tokens',
  logins: 'Sign-ins',
  'sign-ons': 'Single sign-on',
  platform: 'Pages for consoles',
  memory: 'Memory',
  logs: 'Log queries',
  resources: 'Lists of any kind',
  gateway: 'Gateway',
  acceleration: 'Acceleration of the gateway',
  explore: 'The page /explore',
};

/** Rows of the chart in README.md: what is served from the cache, and what is forwarded. */
const OVERVIEW: readonly { readonly heading: string; readonly rows: Readonly<Record<string, string>> }[] = [
  {
    heading: 'Served from the cache',
    rows: {
      'get one node, direct': 'get one node',
      'get one node with an access token': 'get one node with an access token',
      'list 5000 nodes, direct: time': 'list 5,000 nodes',
      'list 5000 nodes, through the aggregator: time': 'the same through kube-apiserver',
      'resources: page of 10, filtered, sorted, of all 100000 pods':
        'page of 10 of 100,000 pods, filtered and sorted',
      'resources: page of 10, filtered, sorted, of the 5 of 5000 namespaces of a tenant':
        'the same page for a tenant with 5 of 5,000 namespaces',
      'acceleration: list of 100,000 pods, gzip: time': 'list 100,000 pods, gzip',
      'acceleration: Table of 100,000 pods, gzip: time': 'the same as a Table for kubectl',
      'acceleration: 500 lists of one namespace at once: time': '500 lists of one namespace at once',
      'acceleration: changes at the last of 500 watchers': 'change at the last of 500 watchers',
    },
  },
  {
    heading: 'Forwarded to kube-apiserver by the gateway, on the same two cores',
    rows: {
      'gateway: get one node with a token of this server': 'get one node',
      'gateway: list 5000 nodes': 'list 5,000 nodes',
      'gateway: create a ConfigMap': 'create a ConfigMap',
      'gateway: events of 300 watchers': 'events of 300 watchers',
      'gateway: 1 GB through exec': '1 GB through exec',
    },
  },
];

const SPEED = 'How many times as fast: 1 × is as fast as kube-apiserver.';
const ANY = 'How many times as fast; for CPU, memory and bytes, how many times less.';

type Measured = Readonly<Partial<Record<Group, { readonly rows: readonly Row[] }>>>;

export interface Chart {
  readonly name: string;
  readonly title: string;
  readonly svg: string;
}

export function charts(measured: Measured): Chart[] {
  const groups = GROUPS.flatMap((name) => (measured[name] ? [{ name, ...measured[name] }] : []));
  const rows = groups.flatMap((group) => group.rows);
  const compared = (which: (row: Row) => boolean): Section[] =>
    groups.map(({ name, rows }) => ({
      heading: HEADINGS[name],
      bars: rows.filter((row) => row.ratio && which(row)).map((row) => comparison(row, shortName(row))),
    }));
  const overview = OVERVIEW.map(({ heading, rows: labels }) => ({
    heading,
    bars: Object.entries(labels).map(([work, label]) => comparison(rowOf(rows, work), label)),
  }));
  const peers = [...new Set(rows.flatMap(({ against }) => against ?? []))];
  const others = peers.map((peer) => ({
    heading: `Compared with ${peer}`,
    bars: compared(({ against }) => against === peer).flatMap(({ bars }) => bars),
  }));
  const limited = groups.map(({ name, rows }) => ({
    heading: HEADINGS[name],
    bars: rows.filter(({ ratio }) => !ratio).map((row) => shareOfLimit(row, shortName(row))),
  }));
  return [
    ratios('overview', 'Speed compared with kube-apiserver', 'kube-apiserver', SPEED, overview),
    ratios(
      'kube-apiserver',
      'All comparisons with kube-apiserver',
      'kube-apiserver',
      ANY,
      compared(({ against }) => against === undefined),
    ),
    ratios('peers', 'Comparisons with other peers', 'peer', ANY, others),
    limits(limited),
  ];
}

function rowOf(rows: readonly Row[], work: string): Row {
  const row = rows.find((row) => row.work === work);
  if (row === undefined)
    throw new Error(`the bench has no row "${work}": update OVERVIEW in hack/bench/charts.ts`);
  return row;
}

/** Without the name of the group or of the peer, which is the heading. */
function shortName({ work, against }: Row): string {
  const name = work.replace(/^(?:platform|resources|gateway|acceleration|explore page): |^logs, /, '');
  return against === undefined ? name : name.replace(`${against}: `, '');
}

function ratios(name: string, title: string, peer: string, legend: string, all: readonly Section[]): Chart {
  const sections = withBars(all);
  const bars = sections.flatMap((section) => section.bars);
  const better = bars.filter(({ bad }) => !bad).length;
  const description = `${better} of ${bars.length} bars are on the better side of ${peer}. ${inWords(sections)}`;
  const ticks = [1, 10, 100, 0.1, 2, 0.5, 5, 20, 50, 200].map((value) => ({ value, label: `${value} ×` }));
  const axis: Axis = {
    base: 1,
    position: Math.log2,
    ticks: shown(ticks, bars),
    sides: ['← worse', 'better →'],
  };
  const svg = barChart({
    title,
    description,
    legend: `${legend} Logarithmic axis. The mark | is the goal; ✗ says that it is missed.`,
    columns: [peer, 'ks-apiserver'],
    axis,
    sections,
  });
  return { name, title, svg };
}

function shown<T extends { readonly value: number }>(ticks: readonly T[], bars: readonly Bar[]): T[] {
  const values = bars.flatMap(({ value, goal }) => [value, goal]);
  return ticks.filter(
    ({ value }) => value === 1 || (value >= Math.min(...values) && value <= Math.max(...values)),
  );
}

function limits(all: readonly Section[]): Chart {
  const sections = withBars(all);
  const title = 'Figures with a fixed limit';
  const ticks = [0, 1, 0.5, 0.25, 0.75].map((value) => ({ value, label: `${value * 100} %` }));
  const svg = barChart({
    title,
    description: inWords(sections),
    legend:
      'Share of the limit that is used: shorter is better. The mark | is the limit; ✗ and a hatched bar say that it is exceeded.',
    columns: ['limit', 'ks-apiserver'],
    axis: { base: 0, position: (value) => value, ticks },
    sections,
  });
  return { name: 'limits', title, svg };
}

function withBars(sections: readonly Section[]): Section[] {
  return sections.filter(({ bars }) => bars.length > 0);
}

function inWords(sections: readonly Section[]): string {
  return sections
    .map(
      ({ heading, bars }) =>
        `${heading}: ${bars.map(({ label, figure }) => `${label} ${figure}`).join('; ')}.`,
    )
    .join(' ');
}
