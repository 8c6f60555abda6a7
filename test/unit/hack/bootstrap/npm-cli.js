// Fake npm that creates node_modules and logs each installation.
import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync } from 'node:fs';

const { NPM_VERSION = '11.0.0', NPM_LOG, NPM_EXIT = '0', NPM_HANGS } = process.env;

if (process.argv.includes('--version')) {
  console.log(NPM_VERSION);
} else if (NPM_HANGS) {
  const child = spawn('sleep', ['300'], { stdio: 'ignore' });
  appendFileSync(NPM_LOG, `${child.pid}\n`);
} else {
  mkdirSync('node_modules', { recursive: true });
  appendFileSync(NPM_LOG, `${process.argv.slice(2).join(' ')}\n`);
  process.exitCode = Number(NPM_EXIT);
}
