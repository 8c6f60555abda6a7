// Loads all modules of the server and of its commands, so that Node writes them to the compile cache.
import { globSync } from 'node:fs';
import { join } from 'node:path';

const MAIN = 'server/main.ts';

for (const file of globSync('server/**/*.ts').sort()) {
  if (file !== MAIN) await import(join(process.cwd(), file));
}
const { kubeConfigClass } = await import(join(process.cwd(), 'server/cluster/connection/client-node.ts'));
kubeConfigClass();
// Runs the command of the arguments, which ends the process.
await import(join(process.cwd(), MAIN));
