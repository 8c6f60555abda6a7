// Tests of the check of Maven's downloads.
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { verifyJars } from '../../../../hack/java/java-program.ts';
import { rejection } from '../../../support/rejection.ts';
import { scratchFolder } from '../../../support/scratch.ts';

function sum(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

describe('the downloads of Maven', () => {
  it('must match the list of jars exactly', async () => {
    await using scratch = await scratchFolder();
    const node = join(scratch.path, 'node');
    const list = join(scratch.path, 'jars.sha256');
    await mkdir(join(node, 'lib'), { recursive: true });
    await writeFile(join(node, 'a.jar'), 'a');
    await writeFile(join(node, 'lib/b.jar'), 'b');
    await writeFile(list, `${sum('a')}  a.jar\n${sum('b')}  lib/b.jar\n`);
    expect(await verifyJars(node, list)).to.deep.equal(['a.jar', 'lib/b.jar']);

    await writeFile(join(node, 'lib/b.jar'), 'changed');
    await writeFile(join(node, 'lib/c.jar'), 'c');
    await writeFile(list, `${sum('a')}  a.jar\n${sum('b')}  lib/b.jar\n${sum('d')}  d.jar\n`);
    const { message } = await rejection(verifyJars(node, list));
    expect(message).to.match(/: b\.jar has another checksum, c\.jar is not listed, d\.jar is missing$/);
  });
});
