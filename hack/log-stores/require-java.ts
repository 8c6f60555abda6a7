import { findBuildTools, findJava } from './java.ts';
import { isOpenSearchBuilt } from './opensearch-build.ts';

/** One line that says what OpenSearch lacks here; undefined when it can be started, if need be after a build. */
export async function lackingForOpenSearch(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const ask = { env, signal: new AbortController().signal };
  try {
    await findJava(ask);
    if (!(await isOpenSearchBuilt(env))) await findBuildTools(ask);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * For a `before` hook of tests that start OpenSearch: where it cannot be started they are skipped, after one line that
 * says why. With CI=true they fail instead: there it must be possible.
 */
export async function requireJava(
  test: Pick<Mocha.Context, 'skip'>,
  env: NodeJS.ProcessEnv = process.env,
  print: (line: string) => void = console.log,
): Promise<void> {
  const lacking = await lackingForOpenSearch(env);
  if (lacking === undefined) return;
  if (env['CI'] === 'true') throw new Error(lacking);
  print(`skipped: ${lacking}`);
  test.skip();
}
