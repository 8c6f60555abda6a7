// `npm run dev`: like `npm start`, with a server restart after each saved file. The control plane keeps running.
import { join } from 'node:path';
import { serverCommand } from './extension/server-command.ts';
import { namesFor, readPlatform } from './generate/names.ts';
import { DEV, readLocalArguments } from './start/arguments.ts';
import { isReady } from './start/development-server.ts';
import { startLocal } from './start/local-cluster.ts';
import { runUntilStopped } from './start/program.ts';
import { runOnSave } from './start/run-on-save.ts';
import { runCommand } from './system/command.ts';
import { until } from './system/until.ts';
import { runScript } from './terminal/script.ts';

const root = join(import.meta.dirname, '..');

await runScript(DEV, async ({ values }) => {
  const given = readLocalArguments(values);
  const names = namesFor(await readPlatform(join(root, 'manifests/names.json')));
  return runUntilStopped((life, progress) =>
    startLocal({
      root,
      names,
      ...given,
      life,
      progress,
      startServer: async (_cp, server, signal) => {
        const { args, env } = serverCommand(root);
        const run = async (ending: AbortSignal): Promise<void> => {
          const { code, signal } = await runCommand(process.execPath, [...args, ...server.args], {
            cwd: root,
            env: { ...process.env, ...env },
            signal: ending,
            output: 'inherit',
          });
          progress(`the server exited with ${code ?? signal}; it restarts when one of its files is saved`);
        };
        const sources = ['server', 'apis', 'client', 'explore'].map((folder) => join(root, folder));
        const untilStopped = (ending: AbortSignal): Promise<void> =>
          run(ending).catch((error: unknown) => {
            if (!ending.aborted) throw error;
          });
        runOnSave(sources, untilStopped, signal).catch((error: unknown) => life.abort(error));
        await until(() => isReady(server, signal), { signal });
      },
    }),
  );
});
