// Skips tests whose program cannot be built, for instance without a network.
import { messageOf } from '../../apis/reading/thrown-value.ts';
import type { BuildOptions } from '../../hack/artifacts/artifact.ts';
import { type GoProgram, provideGoProgram } from '../../hack/artifacts/go-programs.ts';

/** For a `before` hook; with CI=true the tests fail instead. Returns the path of the program. */
export function requireGoProgram(test: Pick<Mocha.Context, 'skip'>, name: GoProgram): Promise<string> {
  return requireProgram(test, name, (options) => provideGoProgram(name, options));
}

/** The same for another way to provide a program. */
export async function requireProgram(
  test: Pick<Mocha.Context, 'skip'>,
  name: string,
  provide: (options: BuildOptions) => Promise<string>,
): Promise<string> {
  const { env } = process;
  const signal = AbortSignal.timeout(240_000);
  try {
    return await provide({ env, signal, progress: () => undefined });
  } catch (error) {
    if (env['CI'] === 'true') throw error;
    console.log(`skipped: ${name} cannot be built here (${messageOf(error).split('\n')[0]})`);
    return test.skip();
  }
}
