// Tests of isLongRunningQuery, which detects exports and live tails.
import { expect } from 'chai';
import { newLogQueryDecoder } from '../../../../../apis/logging/v1alpha2/log-query-decoder.ts';
import { isLongRunningQuery } from '../../../../../server/logging/endpoints/logs-handler.ts';
import { patternError } from '../../../../../server/logging/matching/regex-dialect.ts';

const decoder = newLogQueryDecoder({ pattern: patternError });

describe('isLongRunningQuery', () => {
  for (const search of [
    '',
    'follow',
    'follow=',
    'follow=0',
    'follow=f',
    'follow=F',
    'follow=false',
    'follow=False',
    'follow=FALSE',
    'follow=1',
    'follow=t',
    'follow=T',
    'follow=true',
    'follow=True',
    'follow=TRUE',
    'operation=export',
    'operation=histogram',
  ]) {
    it(`agrees with the decoded query: ${search === '' ? 'no parameters' : search}`, () => {
      const parameters = new URLSearchParams(search);
      const { follow, operation } = decoder.decode(parameters);
      expect(isLongRunningQuery(parameters)).to.equal(follow || operation === 'export');
    });
  }
});
