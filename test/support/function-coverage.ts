// Preload module that reports which source files have executed a function since the last report. The initialization
// of a module does not count as a function.
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** Files of the project in which a function has run since the previous call. */
async function executedFiles(): Promise<string[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => url.startsWith('file://'))
    .filter(({ functions }) =>
      functions.some(
        ({ ranges: [range] }) => range !== undefined && range.startOffset > 0 && range.count > 0,
      ),
    )
    .map(({ url }) => fileURLToPath(url))
    .filter(
      (path) => path.startsWith(ROOT) && path !== import.meta.filename && !path.includes('node_modules'),
    )
    .map((path) => path.slice(ROOT.length));
}

process.on('message', (message) => {
  if (message === 'executed-files') void executedFiles().then((files) => process.send?.(files));
});
// The channel must not keep the server alive.
process.channel?.unref();
