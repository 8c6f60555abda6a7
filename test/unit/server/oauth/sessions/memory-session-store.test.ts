// Tests of the session store in memory by the conformance suite.
import { describeSessionStore } from '../../../../conformance/session-store.suite.ts';
import { MemorySessionStore, MemorySessions } from '../../../../support/oauth/memory-session-store.ts';

const shared = new MemorySessions();
const stores = [new MemorySessionStore(shared), new MemorySessionStore(shared)] as const;

describeSessionStore('the in-memory store', () => ({ stores }));
