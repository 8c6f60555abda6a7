// Check that npm loads before every program, on Node ≥ 20: fails with the cure if bootstrap.mjs did not run, as with
// --ignore-scripts. Plain JavaScript, like bootstrap.mjs.
import { existsSync } from 'node:fs';
import process from 'node:process';

const modules = new URL('../node_modules', import.meta.url);

if (!process.features.typescript || !existsSync(modules)) {
  console.error(
    'Node 24 and the dependencies are not installed, because npm skipped the script that installs them. Unset npm_config_ignore_scripts or omit --ignore-scripts, then try again.',
  );
  process.exit(1);
}
