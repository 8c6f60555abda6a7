import { messageOf } from '../../apis/reading/thrown-value.ts';
import type { Progress } from '../terminal/progress.ts';
import { findMaven, provideJava } from './java.ts';
import { isNodeBuilt } from './node-build.ts';
import { type NodeKind, OPENSEARCH_2 } from './node-kinds.ts';

/** One line that says what a node lacks here; undefined when it can be started, if need be after a build. */
export async function lackingForOpenSearch(
  env: NodeJS.ProcessEnv,
  kind: NodeKind = OPENSEARCH_2,
  progress: Progress = () => undefined,
): Promise<string | undefined> {
  const options = { env, signal: new AbortController().signal, progress };
  try {
    if (!(await isNodeBuilt(kind, env))) await findMaven(kind, options);
    await provideJava(kind, options);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

export interface Requirement {
  readonly kind?: NodeKind;
  readonly env?: NodeJS.ProcessEnv;
  readonly print?: (line: string) => void;
}

/**
 * For a `before` hook of tests that start OpenSearch: where it cannot be started they are skipped, after one line that
 * says why. With CI=true they fail instead: there it must be possible.
 */
export async function requireJava(
  test: Pick<Mocha.Context, 'skip'>,
  { kind = OPENSEARCH_2, env = process.env, print = console.log }: Requirement = {},
): Promise<void> {
  const lacking = await lackingForOpenSearch(env, kind);
  if (lacking === undefined) return;
  if (env['CI'] === 'true') throw new Error(lacking);
  print(`skipped: ${lacking}`);
  test.skip();
}
