// Mocha reporter that also writes the results to a file for hack/test. hack/test fails a run without this file.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { inspect, stripVTControlCharacters } from 'node:util';
import Mocha from 'mocha';

/** The record that hack/test reads. */
export interface TestRecord {
  passed: number;
  failed: number;
  skipped: number;
  /** Title, file, first lines of the error, and last lines of the error output of a command, of each failed test. */
  failures: string[];
  /** Test files with at least one completed test, relative to the working directory. */
  files: string[];
  /** Handles that kept the process alive after its last test. */
  openHandles: string[];
}

const OPEN_HANDLES_MS = 5_000;
const ERROR_LINES = 4;
const ERROR_CHARACTERS = 600;
const { EVENT_TEST_PASS, EVENT_TEST_FAIL, EVENT_TEST_PENDING } = Mocha.Runner.constants;

export default class RecordReporter extends Mocha.reporters.Spec {
  readonly #files = new Set<string>();
  readonly #failures: string[] = [];

  constructor(runner: Mocha.Runner, options?: Mocha.MochaOptions) {
    super(runner, options);
    for (const event of [EVENT_TEST_PASS, EVENT_TEST_FAIL, EVENT_TEST_PENDING]) {
      runner.on(event, (test: Mocha.Test) => {
        if (test.file) this.#files.add(relative(process.cwd(), test.file));
      });
    }
    runner.on(EVENT_TEST_FAIL, (test: Mocha.Test | Mocha.Hook, error: unknown) => {
      this.#failures.push(describeFailure(test, error));
    });
  }

  override done(failures: number, finish?: (failures: number) => void): void {
    const record: TestRecord = {
      passed: this.stats.passes,
      failed: this.stats.failures,
      skipped: this.stats.pending,
      failures: this.#failures,
      files: [...this.#files],
      openHandles: [],
    };
    // The exit code of mocha is not sufficient: it is 0 if a test calls process.exit(0) or a worker crashes.
    write(record);
    console.log(`${record.passed} passed, ${record.failed} failed, ${record.skipped} skipped`);
    setTimeout(() => giveUp(record), OPEN_HANDLES_MS).unref();
    finish?.(failures);
  }
}

/** The end of the output of `npm test` may be all that a build machine keeps, so it must say what failed. */
function describeFailure(test: Mocha.Test | Mocha.Hook, error: unknown): string {
  const first = linesOf(inspect(error).slice(0, ERROR_CHARACTERS)).slice(0, ERROR_LINES);
  // The message of a failed command begins with the whole command.
  const output = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  const last = linesOf(output.slice(-ERROR_CHARACTERS)).slice(-ERROR_LINES);
  const file = test.file === undefined ? 'unknown file' : relative(process.cwd(), test.file);
  return [test.fullTitle(), file, ...first, ...last].join('\n  ');
}

function linesOf(text: string): string[] {
  return stripVTControlCharacters(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function write(record: TestRecord): void {
  const file = process.env['TEST_RECORD'];
  if (file) writeFileSync(file, JSON.stringify(record));
}

/** Records the open handles of tests, which would prevent the exit of the process, and exits. */
function giveUp(record: TestRecord): void {
  const openHandles = process.getActiveResourcesInfo().filter((name) => !/^(TTYWrap|PipeWrap)$/.test(name));
  write({ ...record, openHandles: openHandles.length > 0 ? openHandles : ['unknown'] });
  console.error(`The tests left something open: ${openHandles.join(', ')}. Close it in an after hook.`);
  // Runs after the exit handler of mocha, which sets its own code.
  process.once('exit', () => {
    process.exitCode = 1;
  });
  process.exit(1);
}
