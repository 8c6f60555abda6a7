// Fixture of suite.test.ts: a program that runs, in parallel mode, a mocha suite whose test never ends.
import { join } from 'node:path';
import { suite } from '../../../../hack/test/suite.ts';

await suite({
  name: 'endless',
  files: ['test/integration/hack/test/fixtures/endless.fixture.ts'],
  jobs: 2,
  timeout: 60_000,
  grep: undefined,
  strict: false,
}).run({
  root: join(import.meta.dirname, '../../../..'),
  env: process.env,
  signal: new AbortController().signal,
  print: () => undefined,
});
