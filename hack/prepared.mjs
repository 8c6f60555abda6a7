// Loaded before every program that npm runs, on any Node from 20 on. bootstrap.mjs has come before it and has installed
// what it needs; where npm was told to leave that out, this says so. Plain JavaScript, like bootstrap.mjs.
import { existsSync } from 'node:fs';
import process from 'node:process';

const modules = new URL('../node_modules', import.meta.url);

if (!process.features.typescript || !existsSync(modules)) {
  console.error(
    'Node 24 and the dependencies are not installed: npm was told to leave out the script before this one, which does that. Unset npm_config_ignore_scripts, or leave --ignore-scripts out, and try again.',
  );
  process.exit(1);
}
