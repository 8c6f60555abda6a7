// Lists all generated files with their generator functions.
import { join } from 'node:path';
import { stringify } from 'yaml';
import { indexTemplate } from '../log-stores/recommended-template.ts';
import { descriptions } from './api-description.ts';
import { exampleConfiguration, idTokenExample } from './authentication-configuration.ts';
import { clientFiles } from './client-library.ts';
import { faultTable } from './fault-table.ts';
import type { GeneratedFile } from './generated-file.ts';
import { headlampChartValues } from './headlamp.ts';
import { IDENTITY_ROWS } from './identity-limits.ts';
import { limitTable } from './limit.ts';
import { LIST_ROWS } from './list-limits.ts';
import { LOG_ROWS } from './log-limits.ts';
import { manifests } from './manifests.ts';
import { metricsTable } from './metrics-table.ts';
import { alertsTable } from './monitoring.ts';
import type { Names } from './names.ts';
import { configurationTable } from './option-tables.ts';
import { logQueryTable, resourceQueryTable, searchQueryTable } from './parameter-table.ts';
import { REQUEST_ROWS } from './request-limits.ts';
import { serverPowerTable } from './server-power.ts';

/** Every generated file of the repository at `root`. */
export async function generatedFiles(root: string, names: Names): Promise<GeneratedFile[]> {
  return [
    {
      path: join(root, 'manifests/names.json'),
      text: () => `${JSON.stringify({ platform: names.platform }, undefined, 2)}\n`,
    },
    ...[...manifests(names)].map(([path, text]) => ({
      path: join(root, 'manifests', path),
      text: () => text,
    })),
    ...[...descriptions(names)].map(([path, text]) => ({ path: join(root, path), text: () => text })),
    ...clientFiles(root),
    document(join(root, 'docs/configuration.md'), { configuration: configurationTable() }),
    document(join(root, 'docs/limits.md'), {
      requests: limitTable(REQUEST_ROWS),
      identity: limitTable(IDENTITY_ROWS),
      lists: limitTable(LIST_ROWS),
      logs: limitTable(LOG_ROWS),
    }),
    document(join(root, 'docs/authentication-configuration.md'), {
      'authentication-configuration': codeBlock('yaml', exampleConfiguration(names.platform)),
      'id-tokens': codeBlock('yaml', idTokenExample(names.platform)),
    }),
    document(join(root, 'docs/relying-parties.md'), {
      'headlamp-values': codeBlock('yaml', stringify(headlampChartValues(names), { lineWidth: 0 })),
    }),
    document(join(root, 'docs/resource-lists.md'), {
      parameters: resourceQueryTable(),
      search: searchQueryTable(),
    }),
    document(join(root, 'docs/log-queries.md'), { parameters: logQueryTable() }),
    document(join(root, 'docs/log-stores.md'), {
      'index-template': codeBlock('json', compactJson(indexTemplate('ks-logstash-log'))),
    }),
    document(join(root, 'docs/metrics.md'), {
      alerts: alertsTable(),
      metrics: await metricsTable(),
    }),
    document(join(root, 'docs/access.md'), { 'server-power': serverPowerTable(names) }),
    document(join(root, 'docs/troubleshooting.md'), { faults: await faultTable(root) }),
  ];
}

/** A document with generated sections, by name. */
export function document(path: string, parts: Readonly<Record<string, string>>): GeneratedFile {
  return {
    path,
    text: (present) => {
      if (present === undefined) throw new Error(`${path} is missing`);
      return Object.entries(parts).reduce((text, [name, part]) => replaceSection(text, name, part), present);
    },
  };
}

/** Replaces the text between two markers of a Markdown document. Throws unless each marker occurs exactly once. */
function replaceSection(text: string, name: string, content: string): string {
  const begin = `<!-- generated: ${name} -->`;
  const end = `<!-- end: ${name} -->`;
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from || text.indexOf(begin, from + 1) >= 0) {
    throw new Error(`the markers ${begin} and ${end} must occur once, in this order`);
  }
  return `${text.slice(0, from + begin.length)}\n\n${content.trim()}\n\n${text.slice(to)}`;
}

function codeBlock(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

const MAX_LINE_LENGTH = 100;

/** JSON with short objects and arrays on one line. */
function compactJson(value: unknown, indent = ''): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value) && value.length === 1) return `[${compactJson(value[0], indent)}]`;
  const inner = `${indent}  `;
  const [open, close, space] = Array.isArray(value) ? ['[', ']', ''] : ['{', '}', ' '];
  const parts = Array.isArray(value)
    ? value.map((item) => compactJson(item, inner))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${compactJson(item, inner)}`);
  const line = `${open}${space}${parts.join(', ')}${space}${close}`;
  if (!line.includes('\n') && line.length + indent.length <= MAX_LINE_LENGTH) return line;
  return `${open}\n${parts.map((part) => `${inner}${part}`).join(',\n')}\n${indent}${close}`;
}
