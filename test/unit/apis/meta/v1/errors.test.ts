// Tests of StatusError.
import { expect } from 'chai';
import {
  newBadRequest,
  newConflict,
  newForbidden,
  newInvalid,
  newMethodNotAllowed,
  newNotFound,
  type StatusError,
} from '../../../../../apis/meta/v1/errors.ts';

describe('StatusError', () => {
  const long = '"&'.repeat(100_000);
  const target = { group: long, resource: long };
  const causes = [{ reason: 'FieldValueInvalid', field: long, message: long }];
  for (const error of [
    newForbidden(target, long, `User "x" cannot get resource ${long}`),
    newForbidden(undefined, '', `User "x" cannot get path ${long}`),
    newNotFound(target, long),
    newConflict(target, long, 'the object has been modified'),
    newMethodNotAllowed('PUT', target),
    newBadRequest(`the query is not valid: ${long}`, causes),
    newInvalid({ group: long, kind: long, name: long }, causes, [long]),
  ] satisfies StatusError[]) {
    it(`truncates repeated input (${error.code} ${error.message.slice(0, 8)})`, () => {
      const status = error.toStatus();
      expect(JSON.stringify(status)).to.have.length.below(20_000);
      expect(status.message).to.match(/^[^…]+…[^…]+$/);
      expect(status.code).to.equal(error.code);
    });
  }
});
