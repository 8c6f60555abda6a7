// Checks the dependencies: the rules for package-lock.json and, on request, the advisories of the npm registry.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CommandLine } from '../apis/reading/command-line.ts';
import { auditResult } from './dependencies/advisories.ts';
import {
  type InstalledManifest,
  type LockedPackage,
  lockfileProblems,
} from './dependencies/lockfile-rules.ts';
import { runScript } from './terminal/script.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const LINE = {
  command: 'node hack/dependencies.ts',
  usage: ['[--advisories]'],
  about:
    'Checks licence, origin, hash, install scripts and deprecation of the packages in package-lock.json, without a network.',
  flags: {
    advisories: {
      description: `instead fails if the npm registry has an advisory of high or critical severity for a dependency of the
server; an unreachable registry is reported and is no failure`,
    },
  },
} as const satisfies CommandLine;
/** One attempt: the advisories are worth no long wait. */
const AUDIT = [
  'audit',
  '--json',
  '--omit=dev',
  '--package-lock-only',
  '--fetch-retries=0',
  '--fetch-timeout=15000',
];

function checkLockfile(): number {
  const { packages }: { packages: Record<string, LockedPackage> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  );
  const problems = lockfileProblems(packages, (path): InstalledManifest | undefined => {
    const file = join(root, path, 'package.json');
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  });
  for (const problem of problems) console.error(problem);
  return problems.length > 0 ? 1 : 0;
}

function checkAdvisories(): number {
  const { stdout, error } = spawnSync('npm', AUDIT, { cwd: root, encoding: 'utf8', timeout: 60_000 });
  const result = error ? { unanswered: error.message } : auditResult(stdout);
  if ('unanswered' in result) {
    console.error(`No advisories were checked, because npm audit failed: ${result.unanswered}`);
    return 0;
  }
  for (const advisory of result.advisories) console.error(advisory);
  if (result.advisories.length === 0) return 0;
  console.error('Upgrade these packages, or the packages that need them.');
  return 1;
}

await runScript(LINE, async ({ values }) => (values.advisories ? checkAdvisories() : checkLockfile()));
