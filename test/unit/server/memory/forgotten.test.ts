import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { GrownOld } from './lines-grown-old.ts';

const run = promisify(execFile);
const ROOM_MB = 16;
const OPTIONS = [
  '--expose-gc',
  `--min-semi-space-size=${ROOM_MB}`,
  `--max-semi-space-size=${ROOM_MB}`,
  join(import.meta.dirname, 'lines-grown-old.ts'),
];

describe('lines of a page that was answered', () => {
  for (const store of ['OpenSearch', 'VictoriaLogs']) {
    it(`do not become old with who has waited for ${store}`, async () => {
      const { stdout } = await run(process.execPath, [...OPTIONS, store]);
      const { lineBytes, oldBytes } = JSON.parse(stdout) as GrownOld;
      expect(oldBytes).to.be.below(lineBytes / 4);
    });
  }
});
