// Runs kubelogin with the arguments of the process, and builds it before if the cache lacks it.
import { spawnSync } from 'node:child_process';
import { provideGoProgram } from '../artifacts/go-programs.ts';
import { printProgress } from '../terminal/progress.ts';

const program = await provideGoProgram('kubelogin', {
  env: process.env,
  signal: new AbortController().signal,
  // Standard output is for kubectl.
  progress: printProgress(process.stderr),
});
process.exitCode = spawnSync(program, process.argv.slice(2), { stdio: 'inherit' }).status ?? 1;
