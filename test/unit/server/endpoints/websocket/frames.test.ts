import { expect } from 'chai';
import * as fc from 'fast-check';
import { FrameReader, textHead } from '../../../../../server/endpoints/websocket/frames.ts';
import { CLOSE, clientFrame, PING, PONG, TEXT } from '../../../../support/web-socket-client.ts';

const KINDS: Readonly<Record<number, string>> = { [CLOSE]: 'close', [PING]: 'ping', [PONG]: 'pong' };

function read(frames: Buffer): unknown[] {
  return [...new FrameReader().read(frames)];
}

describe('frames of a client', () => {
  it('are found wherever the network has cut them, and messages are passed over', () => {
    const control = fc.record({
      opcode: fc.constantFrom(CLOSE, PING, PONG),
      payload: fc.uint8Array({ maxLength: 125 }),
    });
    const message = fc.record({
      opcode: fc.constantFrom(0x0, TEXT, 0x2),
      payload: fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.constant(new Uint8Array(70_000))),
    });
    fc.assert(
      fc.property(
        fc.array(fc.oneof(control, message), { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }),
        (frames, sizes) => {
          const reader = new FrameReader();
          const sent = Buffer.concat(
            frames.map(({ opcode, payload }) => clientFrame(opcode, Buffer.from(payload))),
          );
          const seen: unknown[] = [];
          for (let at = 0, turn = 0; at < sent.length; turn++) {
            const size = sizes[turn % sizes.length] ?? 1;
            for (const { kind, payload } of reader.read(sent.subarray(at, at + size))) {
              seen.push([kind, payload.toString('hex')]);
            }
            at += size;
          }
          const expected = frames
            .filter(({ opcode }) => opcode in KINDS)
            .map(({ opcode, payload }) => [KINDS[opcode], Buffer.from(payload).toString('hex')]);
          expect(seen).to.deep.equal(expected);
        },
      ),
      { numRuns: 200 },
    );
  });

  const wrong: Readonly<Record<string, Buffer>> = {
    'without a mask': Buffer.from([0x81, 1, 65]),
    'with a bit of an extension that was not agreed on': Buffer.from([0xc1, 0x80, 0, 0, 0, 0]),
    'of an unknown kind': Buffer.from([0x83, 0x80, 0, 0, 0, 0]),
    'that ping in parts': clientFrame(PING, Buffer.from('x'), false),
    'that ping at length': clientFrame(PING, Buffer.alloc(126)),
    'that never end': Buffer.from([0x81, 0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0]),
  };
  for (const [what, frame] of Object.entries(wrong)) {
    it(`${what} are refused`, () => {
      expect(() => read(frame)).to.throw();
    });
  }
});

describe('the head of a text', () => {
  for (const [length, head] of [
    [0, '8100'],
    [125, '817d'],
    [126, '817e007e'],
    [65_535, '817effff'],
    [65_536, '817f0000000000010000'],
  ] as const) {
    it(`says that ${length} bytes come`, () => {
      expect(textHead(length).toString('hex')).to.equal(head);
    });
  }
});
