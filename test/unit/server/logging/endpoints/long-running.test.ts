// Tests of isLongRunningQuery, which detects exports and live tails.
import { expect } from 'chai';
import { newLogQueryDecoder } from '../../../../../apis/logging/v1alpha2/log-query-decoder.ts';
import { isLongRunningQuery } from '../../../../../server/logging/endpoints/logs-handler.ts';

const decoder = newLogQueryDecoder();

describe('isLongRunningQuery', () => {
  for (const search of [
    ...['', 'follow', 'operation=export', 'operation=histogram'],
    ...['', '0', 'f', 'F', 'false', 'False', 'FALSE'].map((value) => `follow=${value}`),
    ...['1', 't', 'T', 'true', 'True', 'TRUE'].map((value) => `follow=${value}`),
  ]) {
    it(`agrees with the decoded query: ${search === '' ? 'no parameters' : search}`, () => {
      const parameters = new URLSearchParams(search);
      const { follow, operation } = decoder.decode(parameters);
      expect(isLongRunningQuery(parameters)).to.equal(follow || operation === 'export');
    });
  }
});
