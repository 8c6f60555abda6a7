// Lists the stages of `npm test`.
import { provideGoProgram } from '../artifacts/go-programs.ts';
import { provideImages } from '../cluster/images.ts';
import { missingForCluster } from '../cluster/prerequisites.ts';
import { CLUSTER, findPrograms } from '../control-plane/programs.ts';
import { missingForHeadlamp } from '../identity/headlamp.ts';
import { gate } from './gate.ts';
import { byEnvironment, inShares, together } from './groups.ts';
import { Jobs } from './jobs.ts';
import { Prerequisites } from './prerequisites.ts';
import type { Stage, StageContext } from './stage.ts';
import { suite } from './suite.ts';

/** Tests wait for half of their time, so twice as many jobs as cores are faster. */
const WAITING_JOBS = 4;

/** What tsc checks: each project has the types of its environment, such as a browser. */
const TYPE_CHECKED = ['.', 'client', 'test/unit/client', 'explore', 'test/unit/explore'];

/**
 * tsc reports an error of an unchanged file from its record of the last run, and checks only the files that a change affects:
 * 2 s of CPU instead of 12 s for the largest project.
 */
function typeCheck(project: string): readonly [string, ...string[]] {
  const record = `node_modules/.cache/types/${project.replaceAll('/', '-')}.tsbuildinfo`;
  return ['tsc', '--noEmit', '--incremental', '--tsBuildInfoFile', record, '-p', project];
}

/** All stages, in the order of their start. The timeouts end tests that hang; they are sufficient for a busy machine. */
export function stages(options: {
  grep?: string | undefined;
  jobs?: number | undefined;
  strict: boolean;
}): Stage[] {
  const { grep, jobs, strict } = options;
  const shared = new Jobs(jobs ?? WAITING_JOBS);
  const prerequisites = new Prerequisites();
  const prepare = (context: StageContext): Promise<void> => prerequisites.ready(context);
  const realCluster = {
    timeout: 180_000,
    missing: ({ env }: StageContext) => missingForCluster(env),
    prepare: async (context: StageContext): Promise<void> => {
      // Otherwise the stages beside it would build them while its tests run.
      await prepare(context);
      const { root, env, signal, progress } = context;
      const options = { env, signal, progress };
      await findPrograms(CLUSTER, options);
      await provideImages(root, options);
      await provideGoProgram('prometheus', options);
    },
    grep,
    strict,
  };
  return [
    gate({
      name: 'types',
      commands: TYPE_CHECKED.map(typeCheck),
      cure: 'fix the type errors above, then run npm run check',
      jobs: shared,
    }),
    gate({
      name: 'lint',
      commands: [['oxlint', '--type-aware', '--deny-warnings', '.']],
      cure: 'npm run fix applies automatic fixes; fix the rest by hand',
      jobs: shared,
    }),
    gate({
      name: 'format',
      commands: [['biome', 'check', '--error-on-warnings', '.']],
      cure: 'npm run fix',
      jobs: shared,
    }),
    gate({
      name: 'lockfile',
      commands: [[process.execPath, 'hack/lockfile.mjs', '--check']],
      cure: 'node hack/lockfile.mjs',
      jobs: shared,
    }),
    gate({
      name: 'dependencies',
      commands: [[process.execPath, 'hack/dependencies.ts']],
      cure: 'replace the package, or accept it in hack/dependencies/lockfile-rules.ts with a reason',
      jobs: shared,
    }),
    gate({
      name: 'generated',
      commands: [[process.execPath, 'hack/generate.ts', '--check']],
      cure: 'npm run generate',
      jobs: shared,
    }),
    suite({
      name: 'unit',
      // The slow files first, because each share gets one of four successive files.
      files: [
        'test/unit/**/{bootstrap,buffered-responses,list-index}.test.ts',
        'test/unit/**/kubernetes/conformance.test.ts',
        'test/unit/**/{memory-log-store,object-snapshot,paged-list,watch}.test.ts',
        'test/unit/**/*.test.ts',
      ],
      groups: inShares(shared.limit),
      jobs: shared,
      timeout: 180_000,
      grep,
      strict,
    }),
    suite({
      name: 'cluster',
      // All files share one cluster and its installation. The order avoids rollouts of the Deployment. They wait for pods half of
      // their time, so they start before the stages that run beside them.
      files: [
        'test/cluster/callers.test.ts',
        'test/cluster/pods.test.ts',
        'test/cluster/metrics.test.ts',
        'test/cluster/commands.test.ts',
        'test/cluster/variants.test.ts',
        'test/cluster/documents.test.ts',
        'test/cluster/!(disruption).test.ts',
      ],
      groups: together,
      jobs: shared,
      ...realCluster,
    }),
    suite({
      name: 'integration',
      files: [
        // The interrupted searches of the conformance suite occupy the node for a while.
        'test/integration/**/opensearch/{layouts,node,settings}.test.ts',
        'test/integration/**/opensearch/*.test.ts',
        'test/integration/server/{resources,registration}/*.test.ts',
        'test/integration/**/{conformance,main}.test.ts',
        'test/integration/server/{cache,iam,oauth}/*.test.ts',
        'test/integration/**/*.test.ts',
      ],
      groups: byEnvironment,
      jobs: shared,
      timeout: 180_000,
      prepare,
      grep,
      strict,
    }),
    suite({
      name: 'e2e',
      files: [
        // The groups with the most CPU time: a browser, kubectl, and Schemathesis.
        'test/e2e/explore/*.test.ts',
        'test/e2e/gateway/*.test.ts',
        'test/e2e/description.test.ts',
        'test/e2e/{callers,acceleration}/*.test.ts',
        // It waits for faults and recoveries for two thirds of its time.
        'test/e2e/faults/*.test.ts',
        'test/e2e/**/{start,journeys}.test.ts',
        'test/e2e/**/!(flood).test.ts',
      ],
      groups: byEnvironment,
      jobs: shared,
      timeout: 180_000,
      prepare,
      grep,
      strict,
    }),
    suite({
      name: 'headlamp',
      files: ['test/headlamp/*.test.ts'],
      groups: together,
      jobs: shared,
      timeout: 180_000,
      missing: ({ env }) => missingForHeadlamp(env),
      prepare,
      grep,
      strict,
    }),
    suite({
      name: 'load',
      // They use all cores, and check response times.
      files: ['test/e2e/**/flood.test.ts'],
      groups: together,
      jobs: shared,
      seats: shared.limit,
      timeout: 180_000,
      prepare,
      grep,
      strict,
    }),
    suite({
      name: 'disruption',
      // No request may fail, which a busy machine would cause.
      files: ['test/cluster/disruption.test.ts'],
      groups: together,
      jobs: shared,
      seats: shared.limit,
      ...realCluster,
    }),
  ];
}
