// Checks before every program that bootstrap.mjs has installed the dependencies. This file is plain JavaScript for
// Node 20, like bootstrap.mjs.
import { existsSync } from 'node:fs';
import process from 'node:process';

// Fails after an installation with --ignore-scripts, for example.
const modules = new URL('../node_modules', import.meta.url);

if (!process.features.typescript || !existsSync(modules)) {
  console.error(
    'Node 24 and the dependencies are not installed, because npm skipped the script that installs them. Unset npm_config_ignore_scripts or omit --ignore-scripts, then try again.',
  );
  process.exit(1);
}
