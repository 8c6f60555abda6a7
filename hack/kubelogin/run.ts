// Runs kubelogin with the arguments of the process, and builds it before if the cache lacks it.
import { spawnSync } from 'node:child_process';
import { printProgress } from '../terminal/progress.ts';
import { buildKubelogin } from './build.ts';

const program = await buildKubelogin({
  env: process.env,
  signal: new AbortController().signal,
  // Standard output is for kubectl.
  progress: printProgress(process.stderr),
});
process.exitCode = spawnSync(program, process.argv.slice(2), { stdio: 'inherit' }).status ?? 1;
