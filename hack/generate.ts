// `npm run generate`: writes the generated files, such as manifests and docs tables. With `--check`, the command only
// lists outdated files.
import { join, relative } from 'node:path';
import type { CommandLine } from '../apis/reading/command-line.ts';
import { reportFiles } from './bench/report.ts';
import { chartFiles } from './generate/chart/chart.ts';
import { generatedFiles } from './generate/files.ts';
import { isStale, refresh } from './generate/generated-file.ts';
import { namesFor, readPlatform } from './generate/names.ts';
import { runScript } from './terminal/script.ts';

const ROOT = join(import.meta.dirname, '..');

const LINE = {
  command: 'npm run generate --',
  usage: ['[--platform NAME] [--check]'],
  about: 'Writes the generated files, such as manifests and tables of the documents.',
  flags: {
    platform: {
      value: 'NAME',
      description: 'write the manifests for API groups resources.NAME.io, in the namespace NAME-system',
    },
    check: { description: 'change nothing; fail when a generated file is out of date' },
  },
} as const satisfies CommandLine;

await runScript(LINE, async ({ values }) => {
  const platform = values.platform ?? (await readPlatform(join(ROOT, 'manifests/names.json')));
  const files = [
    ...(await generatedFiles(ROOT, namesFor(platform))),
    ...chartFiles(ROOT),
    ...(await reportFiles()),
  ];
  if (values.check) {
    const stale: string[] = [];
    for (const file of files) if (await isStale(file)) stale.push(relative(ROOT, file.path));
    for (const path of stale) process.stderr.write(`${path} is out of date\n`);
    if (stale.length > 0) process.stderr.write('update with: npm run generate\n');
    return stale.length > 0 ? 1 : 0;
  }
  for (const file of files) {
    if (await refresh(file)) process.stdout.write(`wrote ${relative(ROOT, file.path)}\n`);
  }
  return 0;
});
