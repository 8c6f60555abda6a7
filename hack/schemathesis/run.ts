// Runs schemathesis, a test tool for OpenAPI documents. The result is the list of failures.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PythonEnvironment } from '../python/environment.ts';
import { runCommand } from '../system/command.ts';

interface RunOptions {
  /** The Python with schemathesis. */
  readonly python: string;
  /** An empty folder for configuration, output and report. */
  readonly dir: string;
  /** URL of the OpenAPI document; its server is the one under test. */
  readonly url: string;
  /** PEM file. */
  readonly ca: string;
  /** Configuration of schemathesis: a TOML file that may reference variables of `env`. */
  readonly configuration: string;
  readonly env: NodeJS.ProcessEnv;
  /** Generated test cases per operation, besides those for each parameter. */
  readonly examples: number;
  readonly signal: AbortSignal;
}

/** The part of schemathesis's report that the tests read. */
interface SchemathesisReport {
  readonly operations: { readonly total: number; readonly tested: number };
  readonly test_cases: { readonly generated: number; readonly unique_failures: number };
  /** Output of schemathesis. */
  readonly output: string;
}

/** Responses match the document, no 5xx, 405 for undocumented methods, invalid data is rejected. */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'unsupported_method',
];

export const SCHEMATHESIS: PythonEnvironment = {
  name: 'schemathesis',
  requirements: join(import.meta.dirname, 'requirements.txt'),
};

const START = 'from schemathesis.cli import schemathesis; schemathesis()';

export async function runSchemathesis(options: RunOptions): Promise<SchemathesisReport> {
  const { python, dir, url, ca, configuration, env, examples, signal } = options;
  const report = join(dir, 'report.json');
  const args = [
    ...['--config-file', configuration, 'run', url, '--tls-verify', ca],
    ...['--phases', 'coverage,fuzzing', '--max-examples', String(examples), '--checks', CHECKS.join()],
    // Deterministic cases: a new failure comes from a change.
    ...['--seed', '1', '--no-shrink', '--continue-on-failure'],
    ...['--report', 'json', '--report-json-path', report],
  ];
  const { output } = await runCommand(python, ['-c', START, ...args], {
    cwd: dir,
    env,
    signal,
    output: 'collect',
  });
  const text = await readFile(report, 'utf8').catch((error: unknown) => {
    throw new Error(`schemathesis wrote no report:\n${output}`, { cause: error });
  });
  return { ...(JSON.parse(text) as Omit<SchemathesisReport, 'output'>), output };
}
