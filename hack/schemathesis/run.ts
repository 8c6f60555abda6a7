import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface RunOptions {
  /** Of the environment that has schemathesis. */
  readonly python: string;
  /** An empty folder: configuration, output and report go there. */
  readonly dir: string;
  /** Of the description; the server that it comes from is the one that is tested. */
  readonly url: string;
  /** PEM file. */
  readonly ca: string;
  /** Configuration of schemathesis: a TOML file, which may name variables of `env`. */
  readonly configuration: string;
  readonly env: NodeJS.ProcessEnv;
  /** Test cases made up for each operation, beyond those that try each parameter. */
  readonly examples: number;
  readonly signal: AbortSignal;
}

/** The part of schemathesis's report that is used here. */
export interface SchemathesisReport {
  readonly operations: { readonly total: number; readonly tested: number };
  readonly test_cases: { readonly generated: number; readonly unique_failures: number };
  /** What schemathesis said. */
  readonly output: string;
}

/** Each answer as the description has it, no 5xx, 405 for what it does not have, a refusal of what it forbids. */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'unsupported_method',
];

const START = 'from schemathesis.cli import schemathesis; schemathesis()';

export async function runSchemathesis(options: RunOptions): Promise<SchemathesisReport> {
  const { python, dir, url, ca, configuration, env, examples, signal } = options;
  const report = join(dir, 'report.json');
  const logFile = join(dir, 'schemathesis.log');
  const args = [
    ...['--config-file', configuration, 'run', url, '--tls-verify', ca],
    ...['--phases', 'coverage,fuzzing', '--max-examples', String(examples), '--checks', CHECKS.join()],
    // The same cases each time: whatever it finds was introduced by a change.
    ...['--seed', '1', '--no-shrink', '--continue-on-failure'],
    ...['--report', 'json', '--report-json-path', report],
  ];
  await using log = await open(logFile, 'w');
  const child = spawn(python, ['-c', START, ...args], {
    cwd: dir,
    env: { ...env, PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['ignore', log.fd, log.fd],
    signal,
  });
  await once(child, 'close');
  const output = await readFile(logFile, 'utf8');
  const text = await readFile(report, 'utf8').catch((error: unknown) => {
    throw new Error(`schemathesis wrote no report:\n${output}`, { cause: error });
  });
  return { ...(JSON.parse(text) as Omit<SchemathesisReport, 'output'>), output };
}
