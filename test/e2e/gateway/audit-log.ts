// Audit log of a kube-apiserver under test.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { record } from '../../../apis/reading/unknown-value.ts';
import { wholeLines } from '../../support/whole-lines.ts';

const POLICY = JSON.stringify({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
});

export class AuditLog {
  readonly #file: string;
  /** For kube-apiserver. */
  readonly flags: readonly string[];

  private constructor(file: string, flags: readonly string[]) {
    this.#file = file;
    this.flags = flags;
  }

  static async prepare(dir: string): Promise<AuditLog> {
    const policy = join(dir, 'audit-policy.json');
    const file = join(dir, 'audit.log');
    await writeFile(policy, POLICY);
    return new AuditLog(file, [`--audit-policy-file=${policy}`, `--audit-log-path=${file}`]);
  }

  /** The records of a request. */
  async records(auditID: string): Promise<Readonly<Record<string, unknown>>[]> {
    const lines = wholeLines(await readFile(this.#file, 'utf8'));
    return lines.filter((line) => line.includes(auditID)).map((line) => record(JSON.parse(line)));
  }
}
