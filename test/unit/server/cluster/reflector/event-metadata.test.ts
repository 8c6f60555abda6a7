// Tests of the metadata that the reflector reads from the object of a watch event.
import { expect } from 'chai';
import { UnversionedError } from '../../../../../server/cluster/reflector/reflector-retry.ts';
import { eventMetadata } from '../../../../../server/cluster/reflector/watch-stream.ts';

describe('the metadata of an event', () => {
  it('is read without parsing managedFields and annotations, which can have any number of members', () => {
    // A parser would reject these values.
    const unparsed = '"managedFields":[{"fieldsV1":{unparsed}}],"annotations":{"a":unparsed}';
    const object = Buffer.from(
      `{"spec":{},"metadata":{"name":"a\\u0062","uid":"u",${unparsed},"resourceVersion":"7"}}`,
    );
    expect(eventMetadata(object)).to.deep.equal({
      name: 'ab',
      uid: 'u',
      resourceVersion: '7',
      initialEventsEnd: false,
    });
  });

  it('of a bookmark has the end of the initial events', () => {
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const object = Buffer.from(JSON.stringify({ metadata: { resourceVersion: '7', annotations } }));
    expect(eventMetadata(object)).to.deep.equal({
      name: '',
      uid: '',
      resourceVersion: '7',
      initialEventsEnd: true,
    });
  });

  for (const metadata of [
    '{}',
    '{"resourceVersion":7}',
    '{"resourceVersion":null}',
    'null',
    '"text"',
    '[]',
  ]) {
    it(`is an error without a resourceVersion: ${metadata}`, () => {
      const object = Buffer.from(`{"metadata":${metadata}}`);
      expect(() => eventMetadata(object)).to.throw(UnversionedError);
    });
  }

  it('ignores annotations that are no object', () => {
    const object = Buffer.from('{"metadata":{"annotations":null,"resourceVersion":"7"}}');
    expect(eventMetadata(object)).to.include({ resourceVersion: '7', initialEventsEnd: false });
  });
});
