// `npm test`: runs all checks and test suites, and summarizes their results. hack/test/ defines the stages.
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onStopSignal, StoppedError } from './system/stop-signal.ts';
import { printProgress } from './terminal/progress.ts';
import { runScript } from './terminal/script.ts';
import { readTestArguments, testCommandLine } from './test/arguments.ts';
import { runStages } from './test/run.ts';
import { stages } from './test/stages.ts';
import { summary, verdict } from './test/summary.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

const strict = process.env['CI'] === 'true';
const known = stages({ strict }).map(({ name }) => name);

await runScript(testCommandLine(known), async (given) => {
  const chosen = readTestArguments(given, known);
  const signal = onStopSignal();
  const selected = stages({ grep: chosen.grep, jobs: chosen.jobs, strict }).filter(
    ({ name, kind }) =>
      (chosen.stages.length === 0 || chosen.stages.includes(name)) &&
      (chosen.grep === undefined || kind === 'suite'),
  );
  // Tests must not reach the user's cluster.
  const { KUBECONFIG: _theirs, ...inherited } = process.env;
  const env = {
    ...inherited,
    ...pastProxies(inherited),
    PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`,
  };
  const finished = await runStages(selected, {
    root,
    env,
    signal,
    progress: printProgress(process.stdout),
  });
  const { total, exitCode } = verdict(finished, strict);
  console.log(`\n${summary(finished, total)}`);
  return signal.reason instanceof StoppedError ? signal.reason.exitCode : exitCode;
});

/** Some clients (curl, Python) use a proxy for loopback addresses too, unless no_proxy excludes them. */
function pastProxies(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = ['localhost', '127.0.0.1', '::1', env['no_proxy'] ?? env['NO_PROXY'] ?? '']
    .filter(Boolean)
    .join(',');
  return { no_proxy: own, NO_PROXY: own };
}
