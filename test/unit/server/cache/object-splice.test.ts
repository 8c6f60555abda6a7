// Tests of the replacement of kind and apiVersion in the JSON text of an object.
import { expect } from 'chai';
import { splice, writeSpliced } from '../../../../server/cache/object-splice.ts';

describe('splice', () => {
  const head = Buffer.from('{"kind":"K","apiVersion":"g/v1"');

  it('replaces kind and apiVersion at any position, and finds the metadata', () => {
    const members = ['"kind":"a"', '"apiVersion":"b"', '"x":1', '"metadata":{"name":"n"}', '"y":[2]'];
    for (let shift = 0; shift < members.length; shift++) {
      const order = [...members.slice(shift), ...members.slice(0, shift)];
      const object = splice(Buffer.from(`{${order.join()}}`), head);
      const target = Buffer.alloc(object.length);
      expect(writeSpliced(object, target, 0)).to.equal(object.length);
      expect(JSON.parse(target.toString())).to.deep.equal({
        kind: 'K',
        apiVersion: 'g/v1',
        x: 1,
        metadata: { name: 'n' },
        y: [2],
      });
      const metadata = target.toString('utf8', object.metadataStart, object.metadataEnd);
      expect(metadata).to.equal('{"name":"n"}');
    }
  });

  it('has few parts for an object with many members', () => {
    const members = Array.from({ length: 10_000 }, (_, i) => `"m${i}":${i}`);
    const { parts } = splice(Buffer.from(`{"kind":"a","metadata":{},${members.join()}}`), head);
    expect(parts).to.have.length.below(10);
  });
});
