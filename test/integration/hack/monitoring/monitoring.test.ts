// Tests of the Prometheus rules and the Grafana dashboard with promtool.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { provideGoProgram } from '../../../../hack/artifacts/go-programs.ts';
import { alerts, RULES } from '../../../../hack/generate/monitoring.ts';
import { dashboardExpressions } from '../../../support/promql.ts';

type Series = Readonly<Record<string, string>>;

/**
 * For each alert a series: its values in a healthy replica, values with which only this alert fires, and values with which no
 * alert fires. The notation is that of promtool, with one sample per minute. Rows without an alert are traffic.
 */
const SERIES = `
KsApiserverDown                | up                                                          | 1x60      | 1x50 0x9  | 1x50 0x3 1x5
KsApiserverReplicaDown         | up{pod="b"}                                                 |           | 0x60      | 1x50 0x3 1x5
KsApiserverNotReady            | kubernetes_healthcheck{name="oauth",type="readyz"}          | 1x60      | 0x60      | 1x50 0x3 1x5
KsApiserverNotTrusted          | apiserver_registration_trusted{apiservice="v1"}             | 1x60      | 0x60      | 1x50 0x3 1x5
KsApiserverCertificateExpires  | apiserver_serving_certificate_expiration_timestamp_seconds  | 1000000x60 | 600000x60 | 700000x60
KsApiserverCacheNotSynced      | cache_synced{resource="pods"}                               | 1x60      | 0x60      | 1x50 0x3 1x5
KsApiserverCacheStale          | cache_age_seconds{resource="pods"}                          | 30x60     | 200x60    | 90x60
KsApiserverWatchErrors         | reflector_watch_ends_total{resource="pods",cause="error"}   | 0x60      | 0+1x60    | 0+1x4 4x55
KsApiserverHistoryChanged      | reflector_watch_ends_total{resource="pods",cause="backwards"} | 0x60    | 0x55 1x4  | 1x60
                               | reflector_watch_ends_total{resource="pods",cause="end"}     | 0+1x60
KsApiserverCacheNearlyFull     | cache_bytes{resource="pods"}                                | 100x60    | 950x60    | 850x60
                               | cache_max_bytes{resource="pods"}                            | 1000x60
KsApiserverErrors              | apiserver_request_total{code="503"}                         | 0+6x60    | 0+60x60   | 0+20x60
                               | apiserver_request_total{code="200"}                         | 0+600x60
                               | apiserver_request_total{code="500",subresource="/readyz"}   | 0+600x60
KsApiserverRequestsRejected    | apiserver_request_terminations_total{code="429"}            | 0+6x60    | 0+120x60  | 0+30x60
KsApiserverConnectionsRejected | apiserver_dropped_connections_total{listener="secure"}      | 5x60      | 0+1x60    | 5x50 9x9
KsApiserverEventLoopSlow       | nodejs_eventloop_lag_p99_seconds                            | 0.02x60   | 0.3x60    | 0.08x60
KsApiserverMemoryNearLimit     | process_resident_memory_bytes                               | 300x60    | 950x60    | 850x60
                               | apiserver_memory_limit_bytes                                | 1000x60
KsApiserverReviewsFail         | apiserver_delegated_authn_request_total{code="<error>"}     | 0x60      | 0+1x60    | 3x60
                               | apiserver_delegated_authn_request_total{code="201"}         | 0+60x60
KsApiserverReviewsFail         | apiserver_delegated_authz_request_total{code="403"}         |           | 0+1x60    | 3x60
                               | apiserver_delegated_authz_request_total{code="201"}         | 0+60x60
KsApiserverInvalidCredentials  | authentication_attempts{result="failure"}                   | 0+60x60   | 0+900x60  | 0+300x60
KsApiserverSignInFailures      | oauth_logins_total{outcome="throttled"}                     | 0+6x60    | 0+120x60  | 0+30x60
KsApiserverSignInsUnavailable  | oauth_logins_total{outcome="unavailable"}                   |           | 0+1x60    | 2x60
                               | oauth_logins_total{outcome="success"}                       | 0+600x60
KsApiserverDefaultClient       | oauth_default_client_in_use                                 | 0x60      | 1x60      | 0x10 1x49
KsApiserverLogStoreDown        | log_store_up{store="opensearch"}                            | 1x60      | 0x60      | 1x50 0x3 1x5
KsApiserverGatewayErrors       | gateway_requests_total{code="503"}                          | 0+6x60    | 0+60x60   | 0+20x60
                               | gateway_requests_total{code="200"}                          | 0+600x60
KsApiserverTokensRejected      | gateway_tokens_trusted                                      | 1x60      | 0x60      | 1x50 0x3 1x5
`;
const ROWS = SERIES.trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()));
/** The length of the series. */
const MINUTES = 60;

/** The labels that Prometheus adds to each target. */
const TARGET = { job: 'ks-apiserver', namespace: 'platform-system', pod: 'a' };
const FIRING = 'ALERTS{alertstate="firing"}';

/** A unit test of a healthy replica, except for one series, that expects exactly these alerts. */
function unitTest(title: string, expr: string, expected: readonly string[], other: Series = {}): object {
  const healthy = Object.fromEntries(ROWS.map(([, series = '', values = '']) => [series, values]));
  return {
    name: title,
    interval: '1m',
    input_series: Object.entries({ ...healthy, ...other })
      .filter(([, values]) => values !== '')
      .map(([series, values]) => ({ series: inTarget(series), values })),
    promql_expr_test: [
      {
        expr: `count by (alertname) (${expr})`,
        eval_time: `${MINUTES}m`,
        exp_samples: expected.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
      },
    ],
  };
}

function silentTest(title: string, other: Series = {}): object {
  return unitTest(title, `count_over_time(${FIRING}[${MINUTES + 1}m])`, [], other);
}

function inTarget(series: string): string {
  const [metric = '', labels = ''] = series.split(/[{}]/);
  const added = Object.entries(TARGET).filter(([label]) => !labels.includes(`${label}=`));
  return `${metric}{${[...added.map(([label, value]) => `${label}="${value}"`), labels].filter(Boolean).join(',')}}`;
}

describe('the monitoring component', function () {
  this.timeout(600_000);
  let promtool: string;
  let dir: string;

  before(async () => {
    const signal = AbortSignal.timeout(600_000);
    promtool = await provideGoProgram('promtool', { env: process.env, signal, progress: () => undefined });
    dir = await mkdtemp(join(tmpdir(), 'ks-monitoring-'));
  });
  after(() => rm(dir, { recursive: true }));

  async function run(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(promtool, args).catch((error: unknown) => {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      throw new Error(`promtool ${args.join(' ')}\n${stdout}${stderr}`);
    });
    return stdout;
  }

  /** Writes JSON, which is valid YAML. */
  async function write(name: string, content: object): Promise<string> {
    const path = join(dir, name);
    await writeFile(path, JSON.stringify(content));
    return path;
  }

  it('has valid rules', async () => {
    expect(await run('check', 'rules', '--lint=all', '--lint-fatal', RULES)).to.include('SUCCESS');
  });

  it('has a dashboard with valid expressions', async () => {
    const expressions = await dashboardExpressions();
    expect(expressions).to.have.length.above(30);
    const rules = expressions.map((expr, index) => ({ record: `panel:${index}`, expr }));
    const file = await write('dashboard.json', { groups: [{ name: 'dashboard', rules }] });
    expect(await run('check', 'rules', file)).to.include('SUCCESS');
  });

  it('fires each alert in its condition only', async () => {
    const tested = ROWS.filter(([alert]) => alert !== '');
    expect(new Set(tested.map(([alert]) => alert))).to.deep.equal(new Set(alerts().map(({ name }) => name)));
    const tests = tested.flatMap(([alert = '', series = '', , fires = '', silent = '']) => [
      unitTest(`${alert} fires`, FIRING, [alert], { [series]: fires }),
      silentTest(`${alert} does not fire`, { [series]: silent }),
    ]);
    const file = await write('tests.json', {
      rule_files: [RULES],
      evaluation_interval: '1m',
      tests: [silentTest('nothing fires for a healthy replica'), ...tests],
    });
    expect(await run('test', 'rules', file)).to.include('SUCCESS');
  });
});
