import { messageOf } from '../../apis/reading/thrown-value.ts';
import { findMaven, provideJava } from '../java/java.ts';
import type { Progress } from '../terminal/progress.ts';
import { isNodeBuilt } from './node-build.ts';
import { type NodeKind, OPENSEARCH_2 } from './node-kinds.ts';

/**
 * Returns a one-line message that names the missing prerequisite (Java or Maven) of an OpenSearch node. Returns
 * undefined if nothing is missing.
 */
export async function missingForOpenSearch(
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
