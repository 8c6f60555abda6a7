// Tests of the compiler for JSON paths of custom resources. The integration tests compare the results with
// kube-apiserver.
import { expect } from 'chai';
import { assert, property, string, stringMatching } from 'fast-check';
import { compileJSONPath, JSONPathError } from '../../../../../server/resources/profiles/json-path.ts';

describe('the compiler of JSON paths', () => {
  it('splits a name in brackets at its dots, unless they are escaped', () => {
    const fields = (path: string) =>
      compileJSONPath(path).steps.map((step) => (step.kind === 'field' ? step.name : step.kind));
    expect(fields(".metadata.labels['a\\.b/c']")).to.deep.equal(['metadata', 'labels', 'a.b/c']);
    expect(fields(".metadata.labels['a.b/c']")).to.deep.equal(['metadata', 'labels', 'a', 'b/c']);
    expect(fields('.list[00]')).to.deep.equal(['list', 'slice']);
  });

  it('accepts only a comparison with a literal', () => {
    const { steps } = compileJSONPath(".a[?(@['type'] == 'Ready')].b");
    expect(steps[1]).to.deep.equal({
      kind: 'filter',
      path: [{ kind: 'field', name: 'type' }],
      comparison: { operator: '==', type: 'string', value: 'Ready' },
    });
  });

  for (const path of [
    '.spec..a',
    '.spec.*',
    '.spec.a b',
    '.list[0,1]',
    '.list[?(@.a==@.b)]',
    '.list[?(@.a==Ready)]',
    '.list[?(@.a>"x")]',
  ]) {
    it(`does not support ${path}`, () => {
      expect(compileJSONPath(path).unsupported).to.be.a('string');
    });
  }

  for (const path of [
    '.spec["a"]',
    '.list[ -1 ]',
    '.list[?(match(@.a, "(a+)+$"))].a',
    '.spec..*..*..*',
    `.${'a'.repeat(2000)}`,
    `.list${'[?('.repeat(300)}`,
    `.list[${','.repeat(1000)}`,
  ]) {
    it(`rejects ${path.slice(0, 40)}`, () => {
      expect(() => compileJSONPath(path)).to.throw(JSONPathError);
    });
  }

  it('throws no other error', () => {
    const paths = stringMatching(/^[.a'"()[\]?@=<>!*:,$\\ 0-9-]{0,40}$/);
    assert(
      property(string(), paths, (any, path) => {
        for (const each of [any, path, `.a[?(${path})]`]) {
          try {
            expect(compileJSONPath(each).steps).to.be.an('array');
          } catch (error) {
            expect(error).to.be.instanceOf(JSONPathError);
          }
        }
      }),
      { numRuns: 2000 },
    );
  });
});
