// The public interface of ks-apiserver-client.
export { SignInError } from './authorization.ts';
export { Client, type ClientOptions, type SearchOptions } from './client.ts';
export type { ExecOptions, ExecResult, Shell } from './exec.ts';
export type * from './generated/platform.ts';
export { intervalOf } from './histogram-interval.ts';
export type { Cell, Column } from './kind-columns.ts';
export {
  type AccessAttributes,
  Kubernetes,
  type KubernetesOptions,
  objectPath,
  type PatchType,
} from './kubernetes.ts';
export type { KubernetesList, KubernetesObject, ObjectMeta, OwnerReference } from './kubernetes-object.ts';
export { fieldsOfLine, visibleText } from './line-text.ts';
export { type Row, type Rows, rowsOf, rowsQuery, statusOf } from './list-rows.ts';
export { type ListWindow, windowOf } from './list-window.ts';
export { fieldTerm, type ListPage, type ListQuery, Lists } from './lists.ts';
export { clockOf, localTime } from './local-time.ts';
export {
  logFiltersIn,
  RELATIVE_RANGES,
  relativeRangeIn,
  SEVERITIES,
  timeRangeIn,
} from './log-address.ts';
export type { LogExport, Shortfall } from './log-export.ts';
export {
  type ContextQuery,
  type LogHistogram,
  type LogPage,
  type LogQuery,
  type LogRecord,
  type LogStatistics,
  Logs,
  type SaveOptions,
  type Severity,
  type SeverityHistogram,
  type TimeRange,
} from './logs.ts';
export { type NodeUsage, nodeUsages, type Usage } from './node-usage.ts';
export { listAt, textAt, valueAt } from './object-values.ts';
export { containersOf, type PodContainer } from './pod-containers.ts';
export { amountText, bytesText, quantityOf } from './quantity.ts';
export type { Connection, StreamOptions } from './reconnecting.ts';
export { type RelatedList, relatedLists, relatedLogs } from './related-lists.ts';
export {
  type KindGroup,
  kindGroups,
  kindOfReference,
  kindsNamed,
  type ServedKind,
} from './served-kinds.ts';
export { ServerClock } from './server-clock.ts';
export { LINE_BLOCK, newestLines, type ShownLines, withNewLines, withOlderLines } from './shown-lines.ts';
export { LAST_APPLIED, type ShownParts, shownYAML } from './shown-yaml.ts';
export { SignIn, type SignInOptions, SignInRequired } from './sign-in.ts';
export { ConnectionError, type StatusCause, StatusError, type StatusObject } from './status-error.ts';
export {
  type StatusCount,
  type StatusTone,
  statusCounts,
  toneOfCondition,
  toneOfStatus,
} from './status-tone.ts';
export { spanOf } from './time-span.ts';
export type { UserClaims } from './token-storage.ts';
export type { TokenSource } from './transport.ts';
export type { WatchEvent } from './watch.ts';
