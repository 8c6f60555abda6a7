// Tests of Server-Sent Events and lines that arrive in pieces.
import { expect } from 'chai';
import { array, assert, asyncProperty, constantFrom, nat } from 'fast-check';
import { eventsIn } from '../../../client/event-stream.ts';
import { LineSplitter, linesIn } from '../../../client/line-splitter.ts';
import { rejection } from '../../support/rejection.ts';

/** A body that arrives in pieces, which end at these bytes. */
async function* split(text: string, ends: readonly number[]): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let start = 0;
  for (const end of [...ends].sort((a, b) => a - b)) {
    if (end > start) yield bytes.slice(start, end);
    start = Math.max(start, end);
  }
  yield bytes.slice(start);
}

const ENDS = array(nat(200), { maxLength: 12 });

describe('an event stream', () => {
  const events = async (text: string, ends: readonly number[] = []): Promise<unknown[]> =>
    (await Array.fromAsync(eventsIn(split(text, ends)))).map(({ id, event, data }) => [id, event, data]);

  it('is the same however its bytes are split, with all ends of lines', async () => {
    const text =
      '\ufeffevent: page\nid: 1\ndata: {"a":"ä🙂"}\n\n:heartbeat\n\ndata:x\ndata: y\n\nid: 2\nevent: a\ndata: b\n\n';
    const expected = [
      ['1', 'page', '{"a":"ä🙂"}'],
      ['1', 'message', 'x\ny'],
      ['2', 'a', 'b'],
    ];
    const property = asyncProperty(ENDS, constantFrom('\n', '\r', '\r\n'), async (ends, end) => {
      expect(await events(text.replaceAll('\n', end), ends)).to.deep.equal(expected);
    });
    await assert(property, { numRuns: 200 });
  });

  it('follows the standard', async () => {
    for (const [text, expected] of [
      [
        'data\n\ndata\ndata\n\ndata:',
        [
          ['', 'message', ''],
          ['', 'message', '\n'],
        ],
      ],
      [
        'data:test\n\ndata: test\n\n',
        [
          ['', 'message', 'test'],
          ['', 'message', 'test'],
        ],
      ],
      ['data:  two spaces\n\n', [['', 'message', ' two spaces']]],
      [
        'data: 1\nid\n\nid: a\ndata: 2\n\nid: b\0\ndata: 3\n\n',
        [
          ['', 'message', '1'],
          ['a', 'message', '2'],
          ['a', 'message', '3'],
        ],
      ],
      ['event: x\n\ndata: 1\n\n', [['', 'message', '1']]],
      ['retry: 5\nother: 6\ndata: 1\n\n', [['', 'message', '1']]],
      ['id: 9\n\ndata: 1\n\n', [['9', 'message', '1']]],
      ['data: incomplete\n', []],
    ] as const) {
      expect(await events(text), text).to.deep.equal(expected);
    }
  });

  it('reads a very long line that arrives in many pieces', async () => {
    const long = 'x'.repeat(3_000_000);
    const ends = Array.from({ length: 3000 }, (_, index) => index * 1000);
    const [event] = await events(`data: ${long}\n\n`, ends);
    expect((event as string[])[2]).to.equal(long);
  });

  it('has events of a maximum length, also with empty lines', async () => {
    for (const text of ['data: 12345678901\n', 'data:\n'.repeat(11)]) {
      expect((await rejection(Array.fromAsync(eventsIn(split(text, []), 10)))).message).to.equal(
        'an event has more than 10 characters',
      );
    }
  });
});

describe('lines', () => {
  it('are the same however their bytes are split', async () => {
    const text = 'a\n\nä🙂\r\nlast';
    const property = asyncProperty(ENDS, async (ends) => {
      expect(await Array.fromAsync(linesIn(split(text, ends)))).to.deep.equal(['a', '', 'ä🙂\r', 'last']);
    });
    await assert(property, { numRuns: 100 });
  });

  it('have a maximum length', () => {
    const splitter = new LineSplitter({ max: 10 });
    expect(splitter.push('123456789012345\n1234567890')).to.deep.equal(['123456789012345']);
    expect(() => splitter.push('1')).to.throw('a line has more than 10 characters');
  });
});
