// Tests of the parser that splits pod log responses into lines.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { LineReader, newExtent } from '../../../../../../server/logging/backends/kubernetes/line-reader.ts';
import { at } from './instants.ts';

const { time } = at(1);

describe('the line reader', () => {
  it('reads the same lines wherever the chunks are split', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ' ')),
          { maxLength: 20 },
        ),
        fc.array(fc.nat(), { maxLength: 12 }),
        async (texts, cuts) => {
          const bytes = Buffer.from(texts.map((text) => `${time} ${text}`).join('\n'));
          const offsets = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
          const lines: string[] = [];
          const onLine = (_: string, text: string): void => void lines.push(text);
          const slices = { spent: false };
          const reader = new LineReader({
            onLine,
            extent: newExtent(),
            wallClock: Date.now,
            slices,
            since: undefined,
          });
          for (const [index, from] of [0, ...offsets].entries()) {
            reader.push(bytes.subarray(from, offsets[index]));
            reader.read(undefined);
          }
          await reader.readRest();
          expect(lines).to.deep.equal(texts.map((text) => Buffer.from(text).toString()));
          expect(reader.untimed).to.equal(undefined);
        },
      ),
    ));
});
