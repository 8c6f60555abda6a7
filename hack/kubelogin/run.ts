// Runs kubelogin with the arguments of the process, and builds it before if the cache lacks it.
import { spawnSync } from 'node:child_process';
import { KUBELOGIN } from '../../apis/oauth/kubelogin-kubeconfig.ts';
import { explanationOf } from '../../apis/reading/thrown-value.ts';
import { provideGoProgram } from '../artifacts/go-programs.ts';
import { printProgress } from '../terminal/progress.ts';

try {
  const program = await provideGoProgram('kubelogin', {
    env: process.env,
    signal: new AbortController().signal,
    // Standard output is for kubectl.
    progress: printProgress(process.stderr),
  });
  process.exitCode = spawnSync(program, process.argv.slice(2), { stdio: 'inherit' }).status ?? 1;
} catch (error) {
  process.stderr.write(`${explanationOf(error)}; or install kubelogin as ${KUBELOGIN} on the PATH\n`);
  process.exitCode = 1;
}
