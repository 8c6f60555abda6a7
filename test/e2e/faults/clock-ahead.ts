// Preloaded module that sets the clock of a process 30 s ahead.
const AHEAD_MS = 30_000;

const RealDate = globalThis.Date;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [target.now() + AHEAD_MS] : args, newTarget),
  get: (target, property, receiver) =>
    property === 'now' ? () => target.now() + AHEAD_MS : Reflect.get(target, property, receiver),
});
