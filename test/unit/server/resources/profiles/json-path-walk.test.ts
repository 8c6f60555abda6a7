// Tests of the evaluation of JSON paths: its bounded work. The integration tests compare the results with kube-apiserver.
import { expect } from 'chai';
import { assert, constantFrom, jsonValue, property } from 'fast-check';
import { compileJSONPath, type JSONPath } from '../../../../../server/resources/profiles/json-path.ts';
import {
  JSONPathWalk,
  MAX_VISITS,
  UNKNOWN,
} from '../../../../../server/resources/profiles/json-path-walk.ts';

function stepsOf(path: string): JSONPath {
  const { steps, unsupported } = compileJSONPath(path);
  expect(unsupported).to.equal(undefined);
  return steps;
}

/** A list whose elements count the reads of their field `a`. */
function counting(length: number): { readonly list: readonly object[]; reads: () => number } {
  let reads = 0;
  const element = {
    get a() {
      reads++;
      return 'x';
    },
  };
  return { list: Array.from({ length }, () => element), reads: () => reads };
}

describe('the evaluation of JSON paths', () => {
  for (const path of ['.list[?(@.a=="y")].a', '.list[?(@.a)].a', '.list[*].a', '.list[*].a.b.c']) {
    it(`visits a bounded number of values for ${path}`, () => {
      const { list, reads } = counting(MAX_VISITS * 2);
      expect(new JSONPathWalk().first({ list }, stepsOf(path))).to.equal(UNKNOWN);
      expect(reads()).to.be.at.most(MAX_VISITS);
    });

    it(`visits a bounded number of values in all columns of an object with ${path}`, () => {
      const { list, reads } = counting(MAX_VISITS / 16);
      const walk = new JSONPathWalk();
      const results = Array.from({ length: 64 }, () => walk.first({ list }, stepsOf(path)));
      expect(results[0]).not.to.equal(UNKNOWN);
      expect(results.at(-1)).to.equal(UNKNOWN);
      expect(reads()).to.be.at.most(MAX_VISITS);
    });
  }

  it('reads one element of a long list by its index', () => {
    const list = Array.from({ length: MAX_VISITS * 2 }, (_, i) => ({ i }));
    expect(new JSONPathWalk().first({ list }, stepsOf('.list[-1].i'))).to.equal(MAX_VISITS * 2 - 1);
  });

  it('has an unknown result if it depends on digits that are lost', () => {
    const first = (a: unknown, condition: string): unknown =>
      new JSONPathWalk().first({ list: [{ a }] }, stepsOf(`.list[?(${condition})].a`));
    expect(first(2 ** 60, '@.a>1')).to.equal(UNKNOWN);
    expect(first(2 ** 60, '@.a=="x"')).to.equal(undefined);
    expect(first(2 ** 52, '@.a>1')).to.equal(2 ** 52);
  });

  it('throws for no object', () => {
    const paths = [
      ...['.a', '.a[0]', '.a[-1].b', '.a[*].b', '.a[1:3]', '.a[?(@.b=="x")].c', '.a[?(@.b)].c', '.a[?(@>1)]'],
      ...['.a[*][*][0]', '.__proto__.a', '.constructor'],
    ].map(stepsOf);
    assert(
      property(jsonValue(), constantFrom(...paths), (value, path) => {
        for (const object of [value, { a: value }, { a: [value, value] }])
          new JSONPathWalk().first(object, path);
      }),
    );
  });
});
