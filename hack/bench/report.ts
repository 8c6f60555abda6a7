// Writes the benchmark report: data (results.json), and made from it a table (results.md) and charts. A run of selected
// benchmark groups keeps the previous results of all other groups.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type GeneratedFile, refresh } from '../generate/generated-file.ts';
import { type Chart, charts } from './charts.ts';
import type { Machine } from './measuring/machine.ts';
import { GROUPS, type Group } from './options.ts';
import type { Row } from './rows/row.ts';

export interface MeasuredGroup {
  /** Start of the run. */
  readonly date: string;
  /** Load average before the run. */
  readonly loadBefore: number;
  /** Groups can be measured on different machines. */
  readonly processor: string;
  readonly rows: readonly Row[];
}

export interface Report {
  readonly machine: Omit<Machine, 'loadBefore' | 'processor'>;
  readonly nodes: number;
  readonly kubernetes: string;
  readonly groups: Readonly<Partial<Record<Group, MeasuredGroup>>>;
}

const HEADINGS = ['work', 'peer', 'ours', 'ratio or difference', 'goal', 'met'] as const;

export function table(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.work,
    row.peer ?? '',
    row.ours,
    row.ratio ?? '',
    row.goal,
    verdict(row),
  ]);
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, ...cells.map((line) => (line[column] ?? '').length)),
  );
  const line = (values: readonly string[]): string =>
    `| ${values.map((value, column) => value.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [line(HEADINGS), rule, ...cells.map(line)].join('\n');
}

function verdict({ met }: Row): string {
  if (met === undefined) return '';
  return met ? 'yes' : '**no**';
}

function markdown(report: Report, pictures: readonly Chart[]): string {
  const { machine } = report;
  const groups = GROUPS.flatMap((name) => {
    const group = report.groups[name];
    return group ? [{ name, ...group }] : [];
  });
  const rows = groups.flatMap((group) => group.rows);
  const notes = rows.flatMap(({ work, note }) => (note === undefined ? [] : `- ${work}: ${note}`));
  const missed = rows.flatMap(({ work, met, shortfall }) =>
    met === false ? `- ${work}: ${shortfall ?? 'not analysed yet'}` : [],
  );
  return `# Bench results

After reading this page you know how fast the server is compared with its peer. The peer is kube-apiserver unless a note says otherwise. \`npm run bench\` measures the server and writes this page.

The cluster has ${report.nodes} nodes. In each row, one client measures both sides alternately, over TLS (HTTP/1.1), as a user that is authenticated by certificate and authorized by RBAC.

Machine: ${machine.cores} cores, ${machine.memoryGB} GB, ${machine.system}; Node ${machine.node},
kube-apiserver ${report.kubernetes}. ${groups.map(whenMeasured).join('; ')}.

${pictures.map(({ name, title }) => `![${title}](charts/${name}.svg)`).join('\n\n')}

## All figures

${table(rows)}

${notes.join('\n')}
${missed.length === 0 ? '' : `\n## Missed goals with reasons\n\n${missed.join('\n')}\n`}`;
}

function whenMeasured(group: MeasuredGroup & { readonly name: Group }): string {
  const { name, date, processor, loadBefore } = group;
  return `${name}: ${date.slice(0, 10)}, ${processor}, load average before ${loadBefore.toFixed(2)}`;
}

const DATA = join(import.meta.dirname, 'results.json');

/** Replaces the results of the measured groups. */
export function merged(known: Report, measured: Report): Report {
  return { ...measured, groups: { ...known.groups, ...measured.groups } };
}

export async function writeReport(measured: Report): Promise<void> {
  await writeFile(DATA, data(merged(await readReport(), measured)));
  for (const file of await reportFiles()) await refresh(file);
}

async function readReport(): Promise<Report> {
  return JSON.parse(await readFile(DATA, 'utf8')) as Report;
}

/** The files that are made from the data. */
export async function reportFiles(): Promise<GeneratedFile[]> {
  const report = await readReport();
  const pictures = charts(report.groups);
  return [
    { path: join(import.meta.dirname, 'results.md'), text: () => markdown(report, pictures) },
    ...pictures.map(({ name, svg }) => ({
      path: join(import.meta.dirname, 'charts', `${name}.svg`),
      text: () => svg,
    })),
  ];
}

/** JSON with a line for each row, so that a diff shows which rows changed. */
function data({ groups, ...report }: Report): string {
  const texts = Object.entries(groups).map(([name, { rows, ...group }]) => {
    const lines = rows.map((row) => JSON.stringify(row)).join(',\n');
    return `"${name}":${JSON.stringify(group).slice(0, -1)},"rows":[\n${lines}\n]}`;
  });
  return `${JSON.stringify(report).slice(0, -1)},"groups":{\n${texts.join(',\n')}\n}}\n`;
}
