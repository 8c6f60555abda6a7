// Preload module that reports which functions of the source files have run since the last report. The initialization of
// a module does not count as a function.
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** Functions of the project that have run since the previous call: the file, and the place in it. */
async function executedFunctions(): Promise<[string, number][]> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result.flatMap(({ url, functions }) => {
    if (!url.startsWith('file://')) return [];
    const path = fileURLToPath(url);
    if (!path.startsWith(ROOT) || path === import.meta.filename || path.includes('node_modules')) return [];
    return functions
      .flatMap(({ ranges: [range] }) => range ?? [])
      .filter(({ startOffset, count }) => startOffset > 0 && count > 0)
      .map(({ startOffset }): [string, number] => [path.slice(ROOT.length), startOffset]);
  });
}

process.on('message', (message) => {
  if (message === 'executed-functions') void executedFunctions().then((all) => process.send?.(all));
});
// The channel must not keep the server alive.
process.channel?.unref();
