// Tests of the replacement of fields in the JSON text of an object.
import { expect } from 'chai';
import { splice, withResourceVersion, writeSpliced } from '../../../../server/cache/object-splice.ts';
import { ObjectHead } from '../../../../server/cache/resource-cache.ts';

const HEAD = new ObjectHead({ kind: 'Node', group: 'resources.platform.io', version: 'v1alpha3' });
const BARE = new ObjectHead({ kind: 'Node', group: '', version: 'v1', bareItems: true });
const FRONT = '{"kind":"Node","apiVersion":"resources.platform.io/v1alpha3"';

function spliced(text: string, head = HEAD): { text: string; metadata: string } {
  const object = splice(Buffer.from(text), head.stored);
  const target = Buffer.alloc(object.length);
  expect(writeSpliced(object, target, 0)).to.equal(object.length);
  return {
    text: target.toString(),
    metadata: target.toString('utf8', object.metadataStart, object.metadataEnd),
  };
}

describe('splice', () => {
  const metadata = '{"name":"n","resourceVersion":"5"}';

  const sources = {
    'a core watch event': `{"kind":"Node","apiVersion":"v1","metadata":${metadata},"spec":{"kind":"x"}}`,
    'a custom resource': `{"apiVersion":"v1","kind":"Node","metadata":${metadata},"spec":{"kind":"x"}}`,
    'an item of a list': `{"metadata":${metadata},"spec":{"kind":"x"}}`,
    'a text with both behind': `{"metadata":${metadata},"spec":{"kind":"x"},"apiVersion":"v1","kind":"Node"}`,
    'a text with white space': `{ "kind" :\t"Node" , "apiVersion" : "v1", "metadata":${metadata}, "spec":{"kind":"x"} }`,
  };
  for (const [source, text] of Object.entries(sources)) {
    it(`puts kind and apiVersion first and leaves the rest unchanged, from ${source}`, () => {
      expect(spliced(text)).to.deep.equal({
        text: `${FRONT},"metadata":${metadata},"spec":{"kind":"x"}}`,
        metadata,
      });
    });

    it(`stores an object without kind and apiVersion, and completes it, from ${source}`, () => {
      const bare = `{"metadata":${metadata},"spec":{"kind":"x"}}`;
      expect(spliced(text, BARE)).to.deep.equal({ text: bare, metadata });
      expect(Buffer.concat([...BARE.complete(Buffer.from(bare))]).toString()).to.equal(
        `{"kind":"Node","apiVersion":"v1","metadata":${metadata},"spec":{"kind":"x"}}`,
      );
    });
  }

  it('returns one line, because watches are line-based', () => {
    const { text } = spliced(`{\n  "metadata": {\n"name":"a\\nb"}\n}`);
    expect(text).to.not.include('\n');
    expect(JSON.parse(text)).to.deep.include({ metadata: { name: 'a\nb' } });
  });

  it('rejects an object without metadata', () => {
    expect(() => splice(Buffer.from('{"kind":"Node"}'), HEAD.stored)).to.throw(SyntaxError, 'metadata');
  });

  it('replaces the resourceVersion in metadata only', () => {
    const text = `{"resourceVersion":"1","metadata":{"annotations":{"resourceVersion":"2"},"resourceVersion":"99"},"x":"resourceVersion"}`;
    const bytes = Buffer.from(text);
    const start = text.indexOf('{"annotations');
    const object = withResourceVersion(bytes, bytes.subarray(start, text.indexOf(',"x"')), '100');
    const target = Buffer.alloc(object.length);
    writeSpliced(object, target, 0);
    expect(target.toString()).to.equal(text.replace('"99"', '"100"'));
    expect(target.toString('utf8', object.metadataStart, object.metadataEnd)).to.equal(
      '{"annotations":{"resourceVersion":"2"},"resourceVersion":"100"}',
    );
  });
});
