import { join } from 'node:path';
import { indexTemplate } from '../log-stores/recommended-template.ts';
import { descriptions } from './api-description.ts';
import { exampleConfiguration, idTokenExample } from './authentication-configuration.ts';
import type { GeneratedFile } from './generated-file.ts';
import { manifests } from './manifests.ts';
import { replaceSection } from './marked-section.ts';
import { metricsTable } from './metrics-table.ts';
import type { Names } from './names.ts';
import { configurationTable, limitsTable } from './option-tables.ts';
import { logQueryTable, nodeQueryTable } from './parameter-table.ts';

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
    section(join(root, 'docs/configuration.md'), 'configuration', configurationTable()),
    section(join(root, 'docs/limits.md'), 'limits', limitsTable()),
    section(
      join(root, 'docs/authentication-configuration.md'),
      'authentication-configuration',
      `\`\`\`yaml\n${exampleConfiguration(names.platform)}\`\`\``,
    ),
    section(
      join(root, 'docs/authentication-configuration.md'),
      'id-tokens',
      `\`\`\`yaml\n${idTokenExample(names.platform)}\`\`\``,
    ),
    section(join(root, 'docs/node-list.md'), 'parameters', nodeQueryTable()),
    section(join(root, 'docs/logs.md'), 'parameters', logQueryTable()),
    section(
      join(root, 'docs/logs.md'),
      'index-template',
      `\`\`\`json\n${JSON.stringify(indexTemplate('ks-logstash-log'), undefined, 2)}\n\`\`\``,
    ),
    section(join(root, 'docs/metrics.md'), 'metrics', await metricsTable()),
  ];
}

/** A document of which one part is generated. */
function section(path: string, name: string, content: string): GeneratedFile {
  return {
    path,
    text: (present) => {
      if (present === undefined) throw new Error(`${path} is missing`);
      return replaceSection(present, name, content);
    },
  };
}
