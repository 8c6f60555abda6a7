// Tests that each removed option is accepted with a warning, which contains the value of the constant in the server.
import { expect } from 'chai';
import { stringify } from 'yaml';
import { decodeConfiguration } from '../../../../../apis/config/v1alpha1/decode.ts';
import { putOption } from '../../../../../apis/config/v1alpha1/option-tree.ts';
import { REMOVED_OPTIONS } from '../../../../../apis/config/v1alpha1/removed-options.ts';
import { AMOUNTS } from '../../../../../apis/config/v1alpha1/units.ts';
import { parseResourceQuantity } from '../../../../../apis/meta/v1/resource-quantity.ts';
import { GATEWAY_STREAMS } from '../../../../../server/admission/admission.ts';
import { LIST_HISTORY, READ_WAIT_MS, WATCH_WINDOW } from '../../../../../server/cache/informer.ts';
import { REQUEST_TIMEOUT_MS } from '../../../../../server/filters/deadline.ts';
import { MAX_BODY_BYTES } from '../../../../../server/filters/request-checks.ts';
import { REVIEW_INTERVAL_MS } from '../../../../../server/gateway/acceleration/accelerator.ts';
import { IMPERSONATOR } from '../../../../../server/gateway/impersonator-token.ts';
import { SERVICE } from '../../../../../server/listener/certificates/certificate-choice.ts';
import { DRAIN_TIMEOUT_MS } from '../../../../../server/listener/drain.ts';
import { REQUEST_LIMITS } from '../../../../../server/listener/listener.ts';
import { LIVE_INTERVAL_MS } from '../../../../../server/lists/lists.ts';
import { POD_LOG_LIMITS } from '../../../../../server/logging/backends/kubernetes/kubernetes-log-store.ts';
import { EXPORT_PAGE } from '../../../../../server/logging/backends/opensearch/export.ts';
import { MESSAGE } from '../../../../../server/logging/backends/victorialogs/logsql.ts';
import { LOG_LIMITS } from '../../../../../server/logging/endpoints/logs-handler.ts';
import {
  KEYS_SECRET,
  PUBLISH_AHEAD_MS,
  ROTATION_INTERVAL_MS,
} from '../../../../../server/oauth/keys/key-rotator.ts';
import { HASH_QUEUE, PASSWORD_HASH } from '../../../../../server/oauth/passwords/password-hasher.ts';
import { SESSIONS_PER_USER } from '../../../../../server/oauth/sessions/session-creator.ts';
import { THROTTLE } from '../../../../../server/oauth/throttle/delays.ts';
import { VERIFIED_TOKENS } from '../../../../../server/oauth/tokens/token-verifier.ts';
import { KIND_LIMITS } from '../../../../../server/resources/kinds/followed-kinds-options.ts';
import { DEFAULT_OPTIONS } from '../../../../../server/rest/resource-handler.ts';

const CONSTANTS = {
  DRAIN_TIMEOUT_MS,
  EXPORT_PAGE,
  KIND_LIMITS,
  LIVE_INTERVAL_MS,
  LOG_LIMITS,
  POD_LOG_LIMITS,
  GATEWAY_STREAMS,
  HASH_QUEUE,
  IMPERSONATOR,
  KEYS_SECRET,
  PASSWORD_HASH,
  PUBLISH_AHEAD_MS,
  REVIEW_INTERVAL_MS,
  ROTATION_INTERVAL_MS,
  SERVICE,
  SESSIONS_PER_USER,
  THROTTLE,
  VERIFIED_TOKENS,
  DEFAULT_OPTIONS,
  LIST_HISTORY,
  MAX_BODY_BYTES,
  MESSAGE,
  READ_WAIT_MS,
  REQUEST_LIMITS,
  REQUEST_TIMEOUT_MS,
  WATCH_WINDOW,
};

const HEAD = { apiVersion: 'config.platform.io/v1alpha1', kind: 'APIServerConfiguration' };
const WITHOUT = stringify({ ...HEAD, oauth: { clients: [{ id: 'console', public: true }] } });

describe('removed options', () => {
  for (const [option, instead] of Object.entries(REMOVED_OPTIONS)) {
    it(`include ${option}, with a warning`, () => {
      const client = { id: 'console', public: true };
      const file = { ...HEAD, oauth: { clients: [client] } };
      const [member, ...items] = option.split('oauth.clients[].').reverse();
      putOption(items.length > 0 ? client : file, member?.split('.') ?? [], 'any value');
      const warnings: string[] = [];
      const decoded = decodeConfiguration({ source: 'test', text: stringify(file) }, [], (warning) =>
        warnings.push(warning),
      );
      expect(decoded).to.deep.equal(decodeConfiguration({ source: 'test', text: WITHOUT }));
      expect(warnings).to.deep.equal([`${option} is removed and has no effect; ${instead}`]);
    });
  }

  it('include sections without an option, for example with comments only', () => {
    const sections = ['oauth.passwords', 'oauth.keys', 'cache.snapshots', 'watch', 'logging.limits'];
    for (const section of sections) {
      for (const content of [null, {}]) {
        const file = { ...HEAD };
        putOption(file, section.split('.'), content);
        const decoded = decodeConfiguration({ source: 'test', text: stringify(file) });
        expect(decoded, section).to.deep.equal(decodeConfiguration(undefined));
      }
    }
  });

  for (const [option, instead] of Object.entries(REMOVED_OPTIONS)) {
    const [, value, constant] = /^the value is (\S+) \((\S+)\)$/.exec(instead) ?? [];
    if (value === undefined || constant === undefined) continue;
    it(`have the value of ${constant} for ${option}`, () => {
      const actual = constant.split('.').reduce<unknown>(valueIn, CONSTANTS);
      const expected = AMOUNTS.get('period')?.(value) ?? bytesOf(value) ?? value;
      expect(actual).to.equal(constant.endsWith('Seconds') ? Number(expected) / 1000 : expected);
    });
  }
});

function bytesOf(quantity: string): number | undefined {
  const { nanos } = parseResourceQuantity(quantity) ?? {};
  return nanos === undefined ? undefined : Number(nanos / 1_000_000_000n);
}

function valueIn(inner: unknown, key: string): unknown {
  return typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined;
}
