// Check that npm loads before every program, on Node ≥ 20. If bootstrap.mjs did not run, as with --ignore-scripts, the check
// fails and says what to run. Plain JavaScript, like bootstrap.mjs.
import { existsSync } from 'node:fs';
import process from 'node:process';

const modules = new URL('../node_modules', import.meta.url);

if (!process.features.typescript || !existsSync(modules)) {
  console.error(
    'Node 24 and the dependencies are not installed, because npm skipped the script that installs them. Unset npm_config_ignore_scripts or omit --ignore-scripts, then try again.',
  );
  process.exit(1);
}
