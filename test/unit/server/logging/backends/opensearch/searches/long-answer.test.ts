import { expect } from 'chai';
import {
  LongAnswer,
  ownBytes,
} from '../../../../../../../server/logging/backends/opensearch/searches/long-answer.ts';
import {
  type Hit,
  readAnswer,
} from '../../../../../../../server/logging/backends/opensearch/searches/search-answer.ts';

const TRICKY = ['plain', '"sort":[1,2]}', '"hits":[{', ']},{"_index":"x"', 'Ä\n\\"', 'x'.repeat(10_000)];

function answerOf(count: number, hitOf: (n: number) => object = hit): string {
  const hits = Array.from({ length: count }, (_, n) => hitOf(n));
  return JSON.stringify({
    pit_id: 'first',
    took: 3,
    timed_out: false,
    _shards: { total: 2, successful: 1, skipped: 0, failed: 1 },
    hits: { max_score: null, hits },
  });
}

function hit(n: number): object {
  const log = TRICKY[n % TRICKY.length] ?? '';
  return {
    _index: 'logs',
    _id: `line-${n}`,
    _score: null,
    _source: { log },
    sort: [1_768_471_200_123 + n, n],
  };
}

function long(text: string): LongAnswer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return new LongAnswer(bytes);
}

const partsOf = (answer: LongAnswer) => answer.parts.map((part) => readAnswer(answer.text(part)));
const hitsOf = (answer: LongAnswer): Hit[] => partsOf(answer).flatMap(({ hits }) => hits);

describe('a long answer of OpenSearch', () => {
  for (const count of [0, 1, 7, 100, 1_000]) {
    it(`has all hits in its parts, once and in order: ${count}`, () => {
      const text = answerOf(count);
      const answer = long(text);
      expect(hitsOf(answer)).to.deep.equal(readAnswer(text).hits);
      expect(answer.count ?? 0).to.equal(count);
      expect(answer.length).to.equal(Buffer.byteLength(text));
    });
  }

  it('is read in parts that are small, and say what the whole says', () => {
    const text = answerOf(1_000);
    const answer = long(text);
    const { hits: _, json: __, ...rest } = readAnswer(text);
    expect(answer.parts.length).to.be.above(20);
    for (const part of partsOf(answer)) {
      expect(part.json.text.length).to.be.below(60_000);
      expect(part).to.deep.include(rest);
    }
  });

  it('can be read across parts', () => {
    const answer = long(answerOf(200));
    const [first, second] = answer.parts;
    if (!first || !second) throw new Error('it has one part only');
    const both = readAnswer(answer.text({ begin: first.begin, end: second.end }));
    expect(both.hits).to.deep.equal(
      partsOf(answer)
        .slice(0, 2)
        .flatMap(({ hits }) => hits),
    );
  });

  it('is left in one part when its hits cannot be told apart', () => {
    const text = answerOf(300, (n) => ({ ...hit(n), matched_queries: [] }));
    const answer = long(text);
    expect(answer.parts).to.have.length(1);
    expect(answer.count).to.equal(undefined);
    expect(hitsOf(answer)).to.deep.equal(readAnswer(text).hits);
  });

  it('is refused when it is cut', () => {
    const text = answerOf(300);
    for (const end of [text.length - 1, text.length - 3, Math.floor(text.length / 2)]) {
      expect(() => partsOf(long(text.slice(0, end)))).to.throw();
    }
  });
});

describe('the pieces of an answer', () => {
  it('give back what was read from the socket, and leave alone what Node shares out', () => {
    const read = Buffer.allocUnsafeSlow(16_384).fill('a');
    const shared = Buffer.from('of memory that others use too');
    const bytes = ownBytes([read.subarray(100, 200), shared, read.subarray(200, 300)]);
    expect(bytes.toString()).to.equal(`${'a'.repeat(100)}${shared.toString()}${'a'.repeat(100)}`);
    expect(read.buffer.byteLength, 'of the socket').to.equal(0);
    const whole = Buffer.allocUnsafeSlow(Buffer.poolSize);
    ownBytes([whole]);
    expect(whole.buffer.byteLength, 'of a socket that gave as much as is shared out').to.equal(0);
    expect(shared.toString()).to.equal('of memory that others use too');
  });
});
