// Tests of the index of CustomResourceDefinitions.
import { expect } from 'chai';
import { CustomDefinitions } from '../../../../../server/resources/kinds/custom-definitions.ts';
import { WIDGETS } from '../../../../support/platform/kind-cache.ts';
import { definitionOf } from '../../../../support/platform/kind-cluster.ts';

const raw = (object: object): Buffer => Buffer.from(JSON.stringify(object));
const NAME = 'widgets.example.com';

describe('CustomDefinitions', () => {
  let changes: number;
  let definitions: CustomDefinitions;

  const list = (...objects: object[]): void => {
    const replacement = definitions.replacement();
    for (const object of objects) replacement.add(raw(object));
    replacement.commit('1');
  };

  beforeEach(() => {
    changes = 0;
    definitions = new CustomDefinitions(() => changes++);
  });

  it('have the printer columns and selectable fields of each version', () => {
    expect(definitions.synced).to.equal(false);
    list(definitionOf(WIDGETS, 1));
    expect(definitions.synced).to.equal(true);
    expect(definitions.of(NAME, 'v1')).to.deep.include({
      columns: [{ name: 'color', jsonPath: '.spec.color', type: 'string' }],
      selectableFields: ['.spec.color'],
    });
    expect(definitions.of(NAME, 'v2')).to.equal(undefined);
    expect(definitions.has(NAME)).to.equal(true);
    expect(definitions.has('others.example.com')).to.equal(false);
    expect(changes).to.equal(1);
  });

  it('follow changes, and report each of them', () => {
    list();
    definitions.apply('ADDED', raw(definitionOf(WIDGETS, 1)));
    expect(definitions.has(NAME)).to.equal(true);
    definitions.apply('DELETED', raw(definitionOf(WIDGETS, 2)));
    expect(definitions.has(NAME)).to.equal(false);
    definitions.bookmark();
    expect(changes).to.equal(3);
    definitions.apply('ADDED', raw(definitionOf(WIDGETS, 3)));
    list();
    expect(definitions.has(NAME)).to.equal(false);
  });

  it('have another revision for another spec or another object of the same name only', () => {
    const revision = (object: object): string | undefined => {
      list(object);
      return definitions.of(NAME, 'v1')?.revision;
    };
    const one = revision(definitionOf(WIDGETS, 1));
    expect(revision({ ...definitionOf(WIDGETS, 2), status: { conditions: [] } })).to.equal(one);
    expect(revision(definitionOf(WIDGETS, 1, 'shade'))).not.to.equal(one);
    const metadata = { name: NAME, uid: 'another', resourceVersion: '1' };
    expect(revision({ ...definitionOf(WIDGETS, 1), metadata })).not.to.equal(one);
  });
});
