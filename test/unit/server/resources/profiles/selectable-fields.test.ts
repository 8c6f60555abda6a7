// Tests of the fields that field selectors support.
import { expect } from 'chai';
import type { Kind } from '../../../../../server/resources/kind.ts';
import { selectableFields } from '../../../../../server/resources/profiles/selectable-fields.ts';

const kind = (name: string, custom?: Kind['custom']): Kind => {
  const [plural = '', ...group] = name.split('.');
  return { group: group.join('.'), version: 'v1', plural, kind: plural, namespaced: true, custom };
};

/** The values of all fields of the kind, except empty ones. */
function values(of: Kind, object: object): Readonly<Record<string, string>> {
  const read = Object.entries(selectableFields(of)).map(([field, reads]) => [field, reads(object)]);
  return Object.fromEntries(read.filter(([, value]) => value !== ''));
}

describe('the selectable fields', () => {
  it('of custom resources, from their definition', () => {
    const custom = {
      revision: '1',
      columns: [],
      selectableFields: ['.spec.color', '.spec.size', '.spec.on'],
    };
    const object = { spec: { color: 'blue', size: 3, on: false } };
    expect(values(kind('widgets.example.com', custom), object)).to.deep.equal({
      'spec.color': 'blue',
      'spec.size': '3',
      'spec.on': 'false',
    });
    expect(values(kind('widgets.example.com', custom), {})).to.deep.equal({});
    // Not those of the built-in kind of the same name.
    expect(Object.keys(selectableFields(kind('pods', custom)))).to.have.length(3);
  });

  it('of a kind with the name of a member of Object', () => {
    expect(selectableFields(kind('constructor'))).to.deep.equal({});
  });
});
