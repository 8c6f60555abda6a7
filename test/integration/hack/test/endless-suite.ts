// Program that runs a mocha suite with an endless test. suite.test.ts runs the program.
import { join } from 'node:path';
import { together } from '../../../../hack/test/groups.ts';
import { Jobs } from '../../../../hack/test/jobs.ts';
import { suite } from '../../../../hack/test/suite.ts';

await suite({
  name: 'endless',
  files: ['test/integration/hack/test/fixtures/endless.fixture.ts'],
  groups: together,
  jobs: new Jobs(2),
  timeout: 60_000,
  grep: undefined,
  strict: false,
}).run({
  root: join(import.meta.dirname, '../../../..'),
  env: process.env,
  signal: new AbortController().signal,
  progress: () => undefined,
  lastStarted: () => undefined,
});
