// Consistency test of the reads that the gateway serves from caches (`gateway.acceleration`). Clients write and read at
// random while the watches of the server fail. After a violation, the exit code is 1.
import { join } from 'node:path';
import { type CommandLine, wholeNumber } from '../../apis/reading/command-line.ts';
import { servingFiles } from '../bench/scene/pem-files.ts';
import { withControlPlane } from '../bench/scene/temporary-control-plane.ts';
import { grant } from '../extension/registration.ts';
import { ServerProcess } from '../extension/server-process.ts';
import { freePort } from '../system/ports.ts';
import { onStopSignal } from '../system/stop-signal.ts';
import { printProgress } from '../terminal/progress.ts';
import { runScript } from '../terminal/script.ts';
import { FaultyWatches } from './faulty-watches.ts';
import { type PhaseReport, runWorkload } from './workload.ts';

const LINE = {
  command: 'node --import ./hack/prepared.mjs hack/consistency/consistency.ts',
  usage: ['[options]'],
  about:
    'Compares the reads of concurrent clients with a linearizable history while the watches of the server fail.',
  flags: {
    operations: { value: 'N', default: '100000', description: 'number of reads and writes' },
    seed: { value: 'N', default: '1', description: 'seed of the random numbers' },
  },
} as const satisfies CommandLine;

function test(operations: number, seed: number, signal: AbortSignal): Promise<number> {
  const progress = printProgress(process.stderr);
  return withControlPlane(
    'consistency',
    { signal, progress },
    async ({ dir, defer, controlPlane, trust }) => {
      const { ca, url } = controlPlane;
      const port = await freePort();
      await grant(controlPlane, port, signal);
      const watches = await FaultyWatches.start(controlPlane, dir, seed);
      defer(() => watches.stop());
      const certificate = await servingFiles(controlPlane, dir);
      const server = await ServerProcess.start({
        dir: join(dir, 'server'),
        kubeconfig: watches.kubeconfig,
        port,
        certificate,
        configuration: { gateway: { acceleration: true }, resources: { preload: ['configmaps'] } },
        signal,
      });
      defer(() => server.stop());
      await trust.establish({ issuer: `${server.url}/oauth`, caFile: certificate.ca, audience: 'platform' });
      progress('server: ready');
      const share = Math.ceil(operations / 4);
      const report = await runWorkload({
        cluster: controlPlane.client,
        direct: url,
        gateway: server.url,
        ca,
        phases: [
          { name: 'busy', operations: share, pauseMs: 50 },
          { name: 'quiet', operations: share, pauseMs: 40_000 },
          {
            name: 'busy, with faults',
            operations: operations - 2 * share,
            pauseMs: 50,
            begin: () => watches.begin(),
          },
        ],
        seed,
        signal,
      });
      for (const phase of report.phases) process.stdout.write(describe(phase));
      const total = report.phases.reduce((sum, phase) => sum + phase.operations, 0);
      const faults = Object.entries(watches.counts).map(([name, count]) => `${count} ${name}`);
      process.stdout.write(
        `\n${total} operations, ${report.events} events of watches; faults: ${faults.join(', ')}\n` +
          `${report.violations.length} violations\n${report.violations.slice(0, 20).join('\n')}\n`,
      );
      return report.violations.length === 0 ? 0 : 1;
    },
  );
}

function describe({ name, operations, seconds, tally }: PhaseReport): string {
  const rows = [...tally].map(([verb, results]) => {
    const total = [...results.values()].reduce((sum, count) => sum + count, 0);
    const shares = [...results].map(([result, count]) => `${result} ${((100 * count) / total).toFixed(1)} %`);
    return `  ${verb}: ${total}; ${shares.join(', ')}\n`;
  });
  return `${name}: ${operations} operations in ${seconds.toFixed(0)} s\n${rows.toSorted().join('')}`;
}

await runScript(LINE, ({ values }) => {
  const operations = wholeNumber('--operations', values.operations, 100, 100_000_000);
  return test(operations, wholeNumber('--seed', values.seed, 0, 2 ** 31 - 1), onStopSignal());
});
