// Started and killed by suite.test.ts: a suite that never ends, in parallel, where mocha has processes of its own.
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
