// Tests of the combination of CRC-32 checksums.
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { assert, property, uint8Array } from 'fast-check';
import { crc32Combine } from '../../../../server/memory/crc32-combine.ts';

describe('crc32Combine', () => {
  it('equals the checksum of the joined bytes', () => {
    assert(
      property(uint8Array(), uint8Array({ maxLength: 5_000 }), (first, second) => {
        const whole = crc32(Buffer.concat([first, second]));
        expect(crc32Combine(crc32(first), crc32(second), second.length)).to.equal(whole);
      }),
    );
  });
});
