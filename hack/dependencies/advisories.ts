// Reader of the report that `npm audit --json` prints.
import { array, isRecord, record, text } from '../../apis/reading/unknown-value.ts';

const SERIOUS: ReadonlySet<unknown> = new Set(['high', 'critical']);

type AuditResult =
  /** One line for each advisory of high or critical severity. */
  | { readonly advisories: readonly string[] }
  /** Why there is no report: the registry is unreachable or has no advisories. */
  | { readonly unanswered: string };

export function auditResult(output: string): AuditResult {
  const report = parsed(output);
  if (report['auditReportVersion'] !== 2) return { unanswered: text(report['message']) || 'no report' };
  const advisories = Object.entries(record(report['vulnerabilities'])).flatMap(([name, vulnerability]) =>
    // A string is the name of another package, which has an entry of its own.
    array(record(vulnerability)['via'])
      .filter(isRecord)
      .filter(({ severity }) => SERIOUS.has(severity))
      .map(({ severity, range, title, url }) => {
        return `${name} ${text(range)} (${text(severity)}): ${text(title)} ${text(url)}`;
      }),
  );
  return { advisories };
}

function parsed(output: string): Readonly<Record<string, unknown>> {
  try {
    return record(JSON.parse(output));
  } catch {
    return {};
  }
}
