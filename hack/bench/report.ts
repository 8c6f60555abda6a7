// The result as a table for people (results.md, standard output) and as data (results.json).
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Machine } from './machine.ts';
import type { Row } from './row.ts';

export interface Report {
  readonly date: string;
  readonly machine: Machine;
  readonly nodes: number;
  readonly kubernetes: string;
  readonly rows: readonly Row[];
}

const HEADINGS = ['work', 'peer', 'ours', 'ours to its', 'goal', 'met'] as const;

export function table(rows: readonly Row[]): string {
  const cells = rows.map((row) => [row.work, row.peer, row.ours, row.ratio, row.goal, verdict(row)]);
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

export function markdown(report: Report): string {
  const { machine, rows } = report;
  const notes = rows.flatMap(({ work, note }) => (note === undefined ? [] : `- ${work}: ${note}`));
  const missed = rows.flatMap(({ work, met, shortfall }) =>
    met === false ? `- ${work}: ${shortfall ?? 'not looked into yet'}` : [],
  );
  return `# What the bench measured

Written by \`npm run bench\` on ${report.date.slice(0, 10)}: ${report.nodes} nodes; both sides in one run, in turn, by the
same client over TLS (HTTP/1.1), as a user that is authenticated by certificate and authorized by RBAC. The peer is
kube-apiserver unless a note says otherwise.

Machine: ${machine.cores} cores (${machine.processor}), ${machine.memoryGB} GB, ${machine.system}; Node ${machine.node},
kube-apiserver ${report.kubernetes}. Load average before the start: ${machine.loadBefore.toFixed(2)}.

${table(rows)}

${notes.join('\n')}
${missed.length === 0 ? '' : `\n## What falls short, and why\n\n${missed.join('\n')}\n`}`;
}

export async function writeReport(report: Report): Promise<void> {
  await writeFile(join(import.meta.dirname, 'results.md'), markdown(report));
  await writeFile(join(import.meta.dirname, 'results.json'), `${JSON.stringify(report, null, 2)}\n`);
}
