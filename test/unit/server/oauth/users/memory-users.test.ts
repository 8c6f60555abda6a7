// Tests of the user directory and credential store in memory by the conformance suites.
import { describeCredentialStore } from '../../../../conformance/credential-store.suite.ts';
import { describeUsers } from '../../../../conformance/users.suite.ts';
import { MemoryCredentials, MemoryUsers } from '../../../../support/oauth/memory-users.ts';

const users = new MemoryUsers();
const credentials = new MemoryCredentials();

describeUsers('the memory of tests', () => users);
describeCredentialStore(
  'the memory of tests',
  () => credentials,
  (user) => Promise.resolve(`uid-of-${user}`),
  async (user) => credentials.delete(user),
);
