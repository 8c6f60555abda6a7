// Tests of the fields that field selectors support.
import { expect } from 'chai';
import type { Kind } from '../../../../../server/resources/kind.ts';
import { selectableFields } from '../../../../../server/resources/profiles/selectable-fields.ts';

const kind = (name: string, custom?: Kind['custom']): Kind => {
  const [plural = '', ...group] = name.split('.');
  return { group: group.join('.'), version: 'v1', plural, kind: plural, namespaced: true, custom };
};

describe('the selectable fields', () => {
  it('of a kind with the name of a member of Object', () => {
    expect(selectableFields(kind('constructor'))).to.deep.equal({});
  });
});
