// Reads the expressions of the Prometheus rules and the Grafana dashboard, and the selectors in them.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { array, record, recordIn, text } from '../../apis/reading/unknown-value.ts';
import { MONITORING, RULES } from '../../hack/generate/monitoring.ts';

/** Operators, and the word before the labels of a group. */
const KEYWORDS = new Set(['and', 'or', 'unless', 'by']);

/** Labels that Prometheus adds to each series of a target. */
const TARGET_LABELS = ['job', 'namespace', 'pod'];

interface Selector {
  readonly metric: string;
  /** Values of the matchers, by label. A regular expression is split at `|`. */
  readonly matchers: ReadonlyMap<string, readonly string[]>;
}

/** Reads PromQL in which each selector has matchers. Throws if a metric has none. `groups`: the labels after `by`. */
function read(expr: string): { selectors: Selector[]; groups: string[] } {
  const selectors: Selector[] = [];
  const groups: string[] = [];
  const rest = expr
    .replaceAll(/([a-z_:][\w:]*)\{([^}]*)\}/gi, (_, metric: string, matchers: string) => {
      const found = [...matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"([^"]*)"/g)];
      const values = found.map(([, label = '', value = '']) => [label, value.split('|')] as const);
      selectors.push({ metric, matchers: new Map(values) });
      return '';
    })
    .replaceAll(/\bby \(([^)]*)\)/g, (_, labels: string) => {
      groups.push(...labels.split(/,\s*/));
      return '';
    })
    .replaceAll(/\[\w+\]/g, '');
  const bare = [...rest.matchAll(/\b[a-z_:][\w:]*\b(?!\s*\()/gi)].map(([word]) => word);
  const unknown = bare.filter((word) => !KEYWORDS.has(word));
  if (unknown.length > 0) throw new Error(`${unknown.join(', ')} without matchers in ${expr}`);
  return { selectors, groups };
}

export interface KnownMetric {
  readonly labels: readonly string[];
  /** Its help text and its series. */
  readonly text: string;
}

/** Metrics, labels and values of labels in the expression that do not exist. */
export function unknownIn(expr: string, known: ReadonlyMap<string, KnownMetric>): string[] {
  const { selectors, groups } = read(expr);
  const labels = new Set(['le', ...TARGET_LABELS]);
  const unknown: string[] = [];
  for (const { metric, matchers } of selectors) {
    const found = known.get(metric) ?? known.get(metric.replace(/_bucket$/, ''));
    if (!found) unknown.push(metric);
    if (!matchers.has('job')) unknown.push(`${metric} without job`);
    for (const label of found?.labels ?? []) labels.add(label);
    for (const [label, values] of found ? matchers : []) {
      if (TARGET_LABELS.includes(label)) continue;
      if (!found?.labels.includes(label)) unknown.push(`${metric}{${label}}`);
      const words = values.filter((value) => /^[a-z_-]+$/.test(value));
      unknown.push(...words.filter((value) => !new RegExp(`["\`]${value}["\`]`).test(found?.text ?? '')));
    }
  }
  return [...unknown, ...groups.filter((label) => !labels.has(label))];
}

/** Expressions of the rules, and the names of the recorded metrics. */
export async function rules(): Promise<{ expressions: string[]; recorded: string[] }> {
  const all = array(record(parse(await readFile(RULES, 'utf8')))['groups']).flatMap((group) =>
    array(record(group)['rules']).map(record),
  );
  return {
    expressions: all.map(({ expr }) => text(expr)),
    recorded: all.map((rule) => text(rule['record'])).filter((name) => name !== ''),
  };
}

/** Expressions of the dashboard and its variables, in which Grafana's variables are replaced by values. */
export async function dashboardExpressions(): Promise<string[]> {
  const dashboard: unknown = JSON.parse(await readFile(join(MONITORING, 'dashboard.json'), 'utf8'));
  const queries = array(recordIn(dashboard, 'templating')['list'])
    .map((variable) => text(record(variable)['query']))
    .map((query) => /^label_values\((.*), \w+\)$/.exec(query)?.[1] ?? '');
  const panels = array(record(dashboard)['panels']).flatMap((panel) =>
    array(record(panel)['targets']).map((target) => text(record(target)['expr'])),
  );
  return [...queries, ...panels]
    .filter((expr) => expr !== '')
    .map((expr) => expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$\w+/g, '.*'));
}
