// Program that runs a mocha suite with an endless test, in parallel mode. suite.test.ts runs the program.
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
