import { messageOf } from '../../apis/reading/thrown-value.ts';
import { buildJavaClients } from '../../hack/clients/build.ts';
import { printProgress } from '../../hack/terminal/progress.ts';

/** Returns the command that runs a Java client. Without Java or Maven: undefined, to skip the test; in CI, throws. */
export async function javaClients(signal: AbortSignal): Promise<readonly [string, ...string[]] | undefined> {
  try {
    return await buildJavaClients({ env: process.env, signal, progress: printProgress(process.stdout) });
  } catch (error) {
    if (process.env['CI'] === 'true') throw error;
    console.log(`      skipped: ${messageOf(error)}`);
    return undefined;
  }
}
