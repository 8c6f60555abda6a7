// Tests of the decoder of URL query parameters.
import { expect } from 'chai';
import { Type } from 'typebox';
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import { QueryDecoder } from '../../../../../apis/meta/v1/query-decoder.ts';

const decoder = new QueryDecoder(
  Type.Object(
    {
      size: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
      kinds: Type.Optional(Type.Array(Type.Unsafe<'a' | 'b'>({ type: 'string', enum: ['a', 'b'] }))),
      names: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 5 })),
    },
    { additionalProperties: false },
  ),
);

function refusal(query: string): StatusError {
  try {
    decoder.decode(new URLSearchParams(query));
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error(`${query} was not refused`);
}
const causesOf = (query: string) => refusal(query).details?.causes ?? [];

describe('QueryDecoder with many errors', () => {
  it('reports the first unknown parameters and the number of others', () => {
    const query = Array.from({ length: 5000 }, (_, index) => `x${index}=1`).join('&');
    const { message } = refusal(query);
    expect(causesOf(query)).to.have.length(40);
    expect(message).to.match(/; and 4960 more$/);
    expect(message).to.have.length.below(query.length);
  });

  it('validates at most one value more than a list can have', () => {
    let looks = 0;
    const look = { noun: 'a name', check: () => void looks++ };
    const names = Type.Array(Type.String({ format: 'name' }), { maxItems: 5 });
    const counting = new QueryDecoder(Type.Object({ names }), { formats: { name: look } });
    const query = new URLSearchParams({ names: 'a,'.repeat(50_000) });
    expect(() => counting.decode(query)).to.throw(StatusError, 'must be a list of at most 5 values');
    expect(looks).to.be.at.most(6);
    looks = 0;
    counting.decode(new URLSearchParams({ names: 'a' }));
    expect(looks, 'a value once, because parsing a selector is expensive').to.equal(1);
  });

  it('deduplicates enum values, and limits the errors', () => {
    expect(decoder.decode(new URLSearchParams({ kinds: 'b,a,b' })).kinds).to.deep.equal(['b', 'a']);
    const many = Array.from({ length: 5_000 }, (_, index) => `x${index}`).join(',');
    expect(causesOf(`kinds=${many}`)).to.have.length(3);
    expect(causesOf(`kinds=${'c,'.repeat(50_000)}`)).to.have.length(1);
  });
});
