// Runs one mocha suite as a stage of `npm test`.
import { glob, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../apis/reading/thrown-value.ts';
import type { TestRecord } from '../../test/support/reporter.ts';
import { COMPILE_CACHE } from '../extension/server-command.ts';
import { type CommandOptions, type Ending, runCommand } from '../system/command.ts';
import { withElapsed } from '../terminal/progress.ts';
import type { Grouping } from './groups.ts';
import type { Jobs } from './jobs.ts';
import { endLeftovers } from './leftovers.ts';
import { readRecord } from './record.ts';
import { newScratch, unwritableReason } from './scratch.ts';
import { type Duration, failedWith, type Stage, type StageContext, type StageResult } from './stage.ts';
import { isPassedTest, NOTHING, sum } from './tally.ts';

interface SuiteOptions {
  readonly name: string;
  /** Globs of the test files, relative to the root, in the order in which they run: list slow files first. */
  readonly files: readonly string[];
  /** The files of each group run in one process. */
  readonly groups: Grouping;
  /** Run the groups in parallel. */
  readonly jobs: Jobs;
  /** Seats of each group; by default one. With all seats, no other process of a test runs beside it. */
  readonly seats?: number;
  /** Default timeout of a test, in ms. */
  readonly timeout: number;
  /** Only the tests whose title matches. */
  readonly grep: string | undefined;
  /** A skipped test is a failure. */
  readonly strict: boolean;
  /** Why this machine cannot run the suite, in one line; undefined if it can. */
  missing?(context: StageContext): Promise<string | undefined>;
  /** Prepares the prerequisites of the suite. */
  prepare?(context: StageContext): Promise<void>;
}

/** Runs mocha in child processes, and checks its record against exit code, files and leftover processes. */
export function suite(options: SuiteOptions): Stage {
  return {
    name: options.name,
    kind: 'suite',
    cure: `npm test -- ${options.name} --grep 'part of a title'`,
    async run(context) {
      const files = await filesOf(options.files, context.root);
      if (files.length === 0) return failedWith(`no test file matches ${options.files.join(' ')}`);
      const skipped = await options.missing?.(context);
      if (skipped !== undefined) {
        context.progress(`skipped: ${skipped}`);
        return { tally: NOTHING, problems: [], skipped };
      }
      try {
        await options.prepare?.(context);
      } catch (error) {
        context.signal.throwIfAborted();
        return failedWith(messageOf(error));
      }
      const groups = await options.groups(files, context.root);
      const counted = { passed: 0 };
      let began: number | undefined;
      const runAll = (): Promise<GroupResult[]> =>
        Promise.all(
          groups.map((group, index) =>
            options.jobs.run(() => {
              began ??= performance.now();
              if (index === groups.length - 1) context.lastStarted();
              return runGroup(options, group, context, counted);
            }, options.seats),
          ),
        );
      const results = await (isLive(options)
        ? runAll()
        : withElapsed(context.progress, () => `${options.name}: ${counted.passed} tests passed`, runAll));
      return {
        tally: sum(results.map(({ tally }) => tally)),
        problems: results.flatMap(({ problems }) => problems),
        seconds: secondsSince(began ?? performance.now()),
        durations: results.map(({ duration }) => duration),
      };
    },
  };
}

interface GroupResult extends StageResult {
  readonly duration: Duration;
}

/** The output of a single job is printed at once. Interleaved output of several jobs would be unreadable. */
function isLive({ jobs }: SuiteOptions): boolean {
  return jobs.limit === 1;
}

/** Adds the passed tests to `counted` while it runs, and prints the output at the end, unless it is live. */
async function runGroup(
  options: SuiteOptions,
  files: readonly string[],
  context: StageContext,
  counted: { passed: number },
): Promise<GroupResult> {
  const began = performance.now();
  const lines: string[] = [];
  const collect = (line: string): void => {
    lines.push(line);
    if (isPassedTest(line)) counted.passed++;
  };
  const scratch = await newScratch(options.name);
  try {
    const result = await runMocha(options, files, scratch, context, isLive(options) ? 'inherit' : collect);
    if (!isLive(options)) context.progress(lines.join('\n').trimEnd());
    const what = files.length === 1 ? (files[0] ?? '') : `${files[0]} and ${files.length - 1} others`;
    return { ...result, duration: { what, seconds: secondsSince(began) } };
  } finally {
    await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
}

function secondsSince(began: number): number {
  return (performance.now() - began) / 1000;
}

async function filesOf(patterns: readonly string[], root: string): Promise<string[]> {
  const found = await Promise.all(
    patterns.map(async (pattern) => (await Array.fromAsync(glob(pattern, { cwd: root }))).toSorted()),
  );
  return [...new Set(found.flat())];
}

async function runMocha(
  options: SuiteOptions,
  files: readonly string[],
  scratch: string,
  context: StageContext,
  output: CommandOptions['output'],
): Promise<StageResult> {
  const recordFile = join(scratch, 'record.json');
  const args = [
    join(context.root, 'node_modules/mocha/bin/mocha.js'),
    '--forbid-only',
    '--timeout',
    String(options.timeout),
    ...(options.strict ? ['--forbid-pending'] : []),
    ...(options.grep === undefined ? [] : ['--grep', options.grep]),
    ...files,
  ];
  let left: string[] = [];
  let ending: Ending;
  try {
    ending = await runCommand(process.execPath, args, {
      cwd: context.root,
      env: {
        // A quarter of the collections in kube-apiserver and other programs in Go, which take a tenth of their CPU time.
        GOGC: '400',
        ...context.env,
        TMPDIR: scratch,
        TEST_RECORD: recordFile,
        // Each worker, and each program that a test starts, loads the same modules.
        NODE_COMPILE_CACHE: join(context.root, COMPILE_CACHE),
      },
      signal: context.signal,
      output,
    });
  } finally {
    left = await endLeftovers(`TEST_RECORD=${recordFile}`);
  }
  const record = await readRecord(recordFile);
  const reason = record ? undefined : await unwritableReason(scratch);
  const problems = problemsOf({ record, ending, files, all: options.grep === undefined, left, reason });
  return {
    tally: {
      passed: record?.passed ?? 0,
      failed: (record?.failed ?? 0) + problems.length,
      skipped: record?.skipped ?? 0,
    },
    problems: [...(record?.failures ?? []), ...problems],
  };
}

/** Problems of a run that no test reports. */
function problemsOf(run: {
  record: TestRecord | undefined;
  ending: Pick<Ending, 'code' | 'signal'>;
  files: readonly string[];
  /** Whether every file must have run. */
  all: boolean;
  /** Processes that outlived the run. */
  left: readonly string[];
  /** Why the record may be missing. */
  reason: string | undefined;
}): string[] {
  const { record, ending } = run;
  const end = ending.signal ?? `code ${ending.code}`;
  const leftovers = run.left.map((process) => `a test left a process running: ${process}`);
  if (record === undefined) {
    const why = run.reason === undefined ? [] : [run.reason];
    return [`the run ended early with ${end} and wrote no record`, ...why, ...leftovers];
  }
  const problems: string[] = [];
  if (record.openHandles.length > 0)
    problems.push(`the tests left open handles: ${record.openHandles.join(', ')}`);
  else if (ending.code !== 0 && record.failed === 0)
    problems.push(`no test failed, but the run ended with ${end}`);
  if (run.all) {
    const ran = new Set(record.files);
    problems.push(...run.files.filter((file) => !ran.has(file)).map((file) => `${file}: no test completed`));
  }
  return [...problems, ...leftovers];
}
