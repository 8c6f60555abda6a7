// Tests of the redaction of secrets in log lines.
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { redacted } from '../../../../server/observability/redaction.ts';

const ROOT = join(import.meta.dirname, '../../../..');
/** The members of a log line in the source text of a logger call. */
const LINE = /\blog\??\.(?:debug|info|warn|error|fatal)\(\s*\{([^{}]*)\}/g;

describe('redaction', () => {
  it('does not redact fields that the server logs', async () => {
    const hidden: string[] = [];
    let lines = 0;
    for await (const file of glob('server/**/*.ts', { cwd: ROOT })) {
      for (const [, members = ''] of (await readFile(join(ROOT, file), 'utf8')).matchAll(LINE)) {
        lines++;
        for (const member of members.split(',')) {
          const name = member.split(':', 1)[0]?.trim() ?? '';
          if (redacted({ [name]: 'said' })[name] !== 'said') hidden.push(`${file}: ${name}`);
        }
      }
    }
    expect(lines).to.be.above(40);
    expect(hidden).to.deep.equal([]);
  });
});
