// Tests of content negotiation by the Accept header.
import { expect } from 'chai';
import { type Conversion, negotiate, parseAccept } from '../../../../server/http/accept.ts';

function allows(conversion: Conversion | undefined): boolean {
  return !conversion || conversion.kind === 'Table';
}

describe('negotiate', () => {
  const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  for (const [header, kind] of [
    [undefined, undefined],
    ['', undefined],
    ['*/*', undefined],
    ['*', undefined],
    ['application/vnd.kubernetes.protobuf, application/*', undefined],
    [`application/*, ${TABLE}`, 'Table'],
    [' application/json ; charset=utf-8', undefined],
    [`${TABLE},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json`, 'Table'],
    ['application/json;as=Other;v=v1;g=meta.k8s.io, application/json', undefined],
    ['application/vnd.kubernetes.protobuf,application/json', undefined],
    [`application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,${TABLE}`, 'Table'],
    [`application/json;q=0.3, ${TABLE};q=0.9`, 'Table'],
    [`${TABLE};q=0.1, application/json`, undefined],
    [`*/*, ${TABLE}`, 'Table'],
    ['application/json;stream=watch', undefined],
    [`application/json;as=;v=;g= , ${TABLE};q=0.3`, undefined],
    [`${TABLE};sv=v1`, 'Table'],
  ] as const) {
    it(`returns ${kind ?? 'the object'} for ${String(header)}`, () => {
      expect(negotiate(header, allows).conversion?.kind).to.equal(kind);
    });
  }

  for (const header of [
    ...['Application/JSON', 'application/*+json', 'application/yaml', 'text/html', 'nonsense', ','],
    ...['application/json;q=0', 'application/json;sv=v2', 'application/json;stream=other'],
    'application/json;as=Other;v=v1;g=meta.k8s.io',
  ]) {
    it(`rejects ${header} with 406`, () => {
      expect(() => negotiate(header, allows))
        .to.throw('application/json')
        .with.property('code', 406);
    });
  }

  it('limits the work for a long header of an unauthenticated client', () => {
    expect(parseAccept('a/b,'.repeat(60_000))).to.have.length.at.most(64);
    expect(
      parseAccept(`a/b${Array.from({ length: 30_000 }, (_, i) => `;p${i}=1`).join('')}`)[0]?.parameters.size,
    )
      .to.be.greaterThan(10)
      .and.below(64);
    expect(() => negotiate(`${'a/b,'.repeat(60_000)}application/json`, allows)).to.throw('application/json');
  });
});
