// Tests of the replacement of fields in the JSON text of an object.
import { expect } from 'chai';
import { withResourceVersion, writeSpliced } from '../../../../server/cache/object-splice.ts';

describe('withResourceVersion', () => {
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
